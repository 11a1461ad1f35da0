//! Sorts records, even if they do not all fit in memory: distributes them to partitions by key as they
//! arrive, then sorts partition by partition.

use std::fs::File;
use std::io;
use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::parallel::lock;
use crate::positioned_io::{read_at, write_at};

/// A temporary file could not be created, written or read.
#[derive(Debug, thiserror::Error)]
#[error(
    "{}: cannot use a temporary file here; free some space, or choose another directory for temporary files",
    directory.display()
)]
pub(crate) struct Error {
    /// The directory of the temporary file.
    pub(crate) directory: PathBuf,
    /// The system's error.
    pub(crate) source: io::Error,
}

pub(crate) type Result<T, E = Error> = std::result::Result<T, E>;

/// A record to sort.
pub(crate) trait Record: Copy + Default + Ord + Send + Sync {
    /// The size of a record in temporary files, in bytes.
    const BYTES: usize;

    /// A number in the order of `Ord`: a lesser record never has a greater number. The top bits of the number
    /// choose the partition.
    fn sort_key(self) -> u128;

    /// Appends the encoded record.
    fn write(self, bytes: &mut Vec<u8>);

    /// Decodes a record from [`BYTES`](Self::BYTES) bytes.
    fn read(bytes: &[u8]) -> Self;
}

/// Records of all workers, partitioned by the top bits of their keys. Records beyond the memory limit are
/// written to an unnamed temporary file, which the system removes at the latest when the process ends.
#[derive(Debug)]
pub(crate) struct Partitions<R> {
    /// The number of top bits of the sort key that choose the partition.
    bits: u32,
    partitions: Vec<Mutex<Partition<R>>>,
    memory: u64,
    used: AtomicU64,
    directory: PathBuf,
    spill: File,
    spilled: AtomicU64,
}

#[derive(Debug, Default)]
struct Partition<R> {
    buffers: Vec<Vec<R>>,
    extents: Vec<Extent>,
}

impl<R> Partition<R> {
    fn len(&self) -> usize {
        let extents = self.extents.iter().map(|extent| extent.records);
        self.buffers.iter().map(Vec::len).chain(extents).sum()
    }
}

/// A range of the temporary file.
#[derive(Clone, Copy, Debug)]
struct Extent {
    offset: u64,
    records: usize,
}

impl<R: Record> Partitions<R> {
    /// The intended number of records per partition. With more records, a partition would not fit in the
    /// processor's cache when it is sorted. With fewer, too many partitions would be written concurrently.
    pub(crate) const RECORDS: u64 = 1 << 17;

    /// The number of bits that choose the bucket of a record. In a partition of about
    /// [`RECORDS`](Self::RECORDS) records, a bucket has about 32.
    const BUCKET_BITS: u32 = 12;

    /// Creates partitions for about `expected` records. Records beyond `memory` bytes are written to a file
    /// in `directory`.
    ///
    /// The file is created now, even if it will not be needed, so that an error is reported at once and not
    /// after hours.
    pub(crate) fn new(expected: u64, memory: u64, directory: PathBuf) -> Result<Self> {
        let bits = (expected / Self::RECORDS).max(1).next_power_of_two().ilog2().clamp(1, 10);
        Self::with_bits(bits, memory, directory)
    }

    /// Creates one partition for each value of the top `bits` bits of the sort key.
    pub(crate) fn with_bits(bits: u32, memory: u64, directory: PathBuf) -> Result<Self> {
        let partitions = (0..1 << bits).map(|_| Mutex::default()).collect();
        let failed = |source| Error { directory: directory.clone(), source };
        let spill = tempfile::tempfile_in(&directory).map_err(failed)?;
        let (used, spilled) = (AtomicU64::new(0), AtomicU64::new(0));
        Ok(Self { bits, partitions, memory, used, directory, spill, spilled })
    }

    /// The number of partitions. All keys of a partition are less than those of the next one.
    pub(crate) fn len(&self) -> usize {
        self.partitions.len()
    }

    /// The number of records in all partitions.
    pub(crate) fn records(&self) -> u64 {
        self.partitions.iter().map(|partition| lock(partition).len() as u64).sum()
    }

    /// The number of bytes written to the temporary file.
    pub(crate) fn spilled(&self) -> u64 {
        self.spilled.load(Ordering::Relaxed)
    }

    fn index(&self, record: R) -> usize {
        (record.sort_key() >> (128 - self.bits)) as usize
    }

    /// Stores the records of a worker's buffer in a partition or in the temporary file, and leaves the
    /// buffer empty.
    fn accept(&self, index: usize, buffer: &mut Vec<R>) -> Result<()> {
        let bytes = (buffer.len() * size_of::<R>()) as u64;
        if self.used.fetch_add(bytes, Ordering::Relaxed) + bytes <= self.memory {
            let capacity = buffer.capacity();
            let full = std::mem::replace(buffer, Vec::with_capacity(capacity));
            lock(&self.partitions[index]).buffers.push(full);
            return Ok(());
        }
        self.used.fetch_sub(bytes, Ordering::Relaxed);
        let extent = self.write(buffer)?;
        lock(&self.partitions[index]).extents.push(extent);
        buffer.clear();
        Ok(())
    }

    fn write(&self, buffer: &[R]) -> Result<Extent> {
        let mut bytes = Vec::with_capacity(buffer.len() * R::BYTES);
        buffer.iter().for_each(|record| record.write(&mut bytes));
        let offset = self.spilled.fetch_add(bytes.len() as u64, Ordering::Relaxed);
        write_at(&self.spill, &bytes, offset).map_err(|source| self.failed(source))?;
        Ok(Extent { offset, records: buffer.len() })
    }

    fn failed(&self, source: io::Error) -> Error {
        Error { directory: self.directory.clone(), source }
    }

    /// Empties a partition and passes all its records, sorted, to `sink`. If there are more than `most`
    /// records, they are passed in pieces of about half of `most`.
    pub(crate) fn drain_sorted<E: From<Error>>(
        &self,
        index: usize,
        most: usize,
        mut sink: impl FnMut(&[R]) -> Result<(), E>,
    ) -> Result<(), E> {
        let partition = std::mem::take(&mut *lock(&self.partitions[index]));
        let total = partition.len();
        let mut records = Vec::with_capacity(total.min(most.saturating_mul(2)));
        if total <= most {
            self.gather_sorted(&partition, 0..=u128::MAX, &mut records)?;
            drop(partition);
            return sink(&records);
        }
        let mut from = 0;
        for to in self.splitters(&partition, total, most)?.into_iter().chain([u128::MAX]) {
            self.gather_sorted(&partition, from..=to, &mut records)?;
            sink(&records)?;
            from = to.saturating_add(1);
        }
        Ok(())
    }

    /// Chooses sort keys from a sample. They split a large partition into pieces of about half of `most`
    /// records, so that hardly any piece exceeds `most`.
    fn splitters(&self, partition: &Partition<R>, total: usize, most: usize) -> Result<Vec<u128>> {
        const SAMPLES_PER_PIECE: usize = 256;
        let pieces = total.div_ceil(most / 2 + 1);
        let step = (total / (pieces * SAMPLES_PER_PIECE)).max(1);
        let mut sample: Vec<R> = Vec::new();
        let mut seen = 0;
        self.for_each_buffer(partition, |buffer| {
            let first = seen % step;
            sample.extend(buffer.iter().skip(if first == 0 { 0 } else { step - first }).step_by(step));
            seen += buffer.len();
        })?;
        sample.sort_unstable();
        let samples = sample.len();
        Ok((1..pieces).map(|piece| sample[piece * samples / pieces].sort_key()).collect())
    }

    /// Replaces the contents of `records` with the partition's records whose keys are in `range`, sorted.
    /// Distributes the records to buckets by the key bits that follow those of the partition, then sorts each
    /// bucket. This takes little more than half the time of sorting all records at once, because most buckets
    /// have few records.
    fn gather_sorted(
        &self,
        partition: &Partition<R>,
        range: RangeInclusive<u128>,
        records: &mut Vec<R>,
    ) -> Result<()> {
        let bucket = |record: R| (record.sort_key() << self.bits >> (128 - Self::BUCKET_BITS)) as usize;
        // At first, the number of records of each bucket; later, the index at which the bucket's next record
        // is stored.
        let mut next = vec![0; 1 << Self::BUCKET_BITS];
        self.for_each_record(partition, &range, |record| next[bucket(record)] += 1)?;
        let mut start = 0;
        for place in &mut next {
            start += std::mem::replace(place, start);
        }
        records.resize(start, R::default());
        self.for_each_record(partition, &range, |record| {
            let place = &mut next[bucket(record)];
            records[*place] = record;
            *place += 1;
        })?;
        let mut start = 0;
        for end in next {
            records[start..end].sort_unstable();
            start = end;
        }
        Ok(())
    }

    #[inline]
    fn for_each_record(
        &self,
        partition: &Partition<R>,
        range: &RangeInclusive<u128>,
        mut see: impl FnMut(R),
    ) -> Result<()> {
        let all = *range == (0..=u128::MAX);
        self.for_each_buffer(partition, |buffer| {
            if all {
                buffer.iter().for_each(|&record| see(record));
            } else {
                let records = buffer.iter().filter(|record| range.contains(&record.sort_key()));
                records.for_each(|&record| see(record));
            }
        })
    }

    fn for_each_buffer(&self, partition: &Partition<R>, mut see: impl FnMut(&[R])) -> Result<()> {
        partition.buffers.iter().for_each(|buffer| see(buffer));
        if partition.extents.is_empty() {
            return Ok(());
        }
        let (mut bytes, mut buffer) = (Vec::new(), Vec::new());
        for extent in &partition.extents {
            bytes.resize(extent.records * R::BYTES, 0);
            read_at(&self.spill, &mut bytes, extent.offset).map_err(|source| self.failed(source))?;
            buffer.clear();
            buffer.extend(bytes.chunks_exact(R::BYTES).map(R::read));
            see(&buffer);
        }
        Ok(())
    }
}

/// Buffers one worker's records for the partitions.
#[derive(Debug)]
pub(crate) struct Scatter<'p, R> {
    partitions: &'p Partitions<R>,
    buffers: Vec<Vec<R>>,
}

impl<'p, R: Record> Scatter<'p, R> {
    /// Creates one buffer for each partition. All buffers together have about `bytes` bytes, but each has
    /// space for at least 64 and at most 4096 records.
    pub(crate) fn new(partitions: &'p Partitions<R>, bytes: usize) -> Self {
        let capacity = (bytes / size_of::<R>() / partitions.len()).clamp(64, 4096);
        Self { partitions, buffers: (0..partitions.len()).map(|_| Vec::with_capacity(capacity)).collect() }
    }

    #[inline]
    pub(crate) fn push(&mut self, record: R) -> Result<()> {
        let index = self.partitions.index(record);
        let buffer = &mut self.buffers[index];
        buffer.push(record);
        if buffer.len() == buffer.capacity() { self.partitions.accept(index, buffer) } else { Ok(()) }
    }

    /// Adds the remaining records to the partitions.
    pub(crate) fn finish(mut self) -> Result<()> {
        for (index, buffer) in self.buffers.iter_mut().enumerate() {
            if !buffer.is_empty() {
                buffer.shrink_to_fit();
                self.partitions.accept(index, buffer)?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::properties::cases;
    use proptest::prelude::*;

    impl Record for u128 {
        const BYTES: usize = 16;

        fn sort_key(self) -> u128 {
            self
        }

        fn write(self, bytes: &mut Vec<u8>) {
            bytes.extend(self.to_le_bytes());
        }

        fn read(bytes: &[u8]) -> Self {
            Self::from_le_bytes(bytes.try_into().unwrap())
        }
    }

    proptest! {
        #![proptest_config(cases(256))]

        #[test]
        fn all_records_are_sorted_with_any_memory_limit(
            keys in proptest::collection::vec(prop_oneof![any::<u64>(), 0..3u64, Just(u64::MAX)], 0..3000),
            memory in prop_oneof![Just(0), Just(20_000), Just(u64::MAX)],
            most in 1..500usize,
            expected in 1..1_000_000u64,
        ) {
            let directory = tempfile::tempdir().unwrap();
            let partitions = Partitions::new(expected, memory, directory.path().to_owned()).unwrap();
            let records: Vec<u128> =
                (1..).zip(&keys).map(|(index, &key): (u128, _)| u128::from(key) << 64 | index << 7).collect();
            let mut scatters = [Scatter::new(&partitions, 1 << 20), Scatter::new(&partitions, 0)];
            for (index, &record) in records.iter().enumerate() {
                scatters[index % 2].push(record).unwrap();
            }
            scatters.into_iter().for_each(|scatter| scatter.finish().unwrap());
            let mut found = Vec::new();
            for index in 0..partitions.len() {
                let see = |piece: &[u128]| { found.extend_from_slice(piece); Ok::<_, Error>(()) };
                partitions.drain_sorted(index, most, see).unwrap();
            }
            let mut expected = records;
            expected.sort_unstable();
            prop_assert_eq!(found, expected);
        }
    }
}
