//! Compresses answers, and handles conditional requests.

use std::cell::RefCell;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use axum::body::Bytes;
use axum::http::header::{ACCEPT_ENCODING, CONTENT_ENCODING, CONTENT_TYPE, ETAG, IF_NONE_MATCH, VARY};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse as _, Response};
use flate2::{Compress, Compression, FlushCompress, Status};

/// Answers with fewer bytes are not compressed. Compressing them would save little, because headers and
/// network overhead stay the same.
const LEAST: usize = 2048;
/// The size of the compression window in bytes, as an exponent of 2.
const WINDOW: u8 = 15;

thread_local! {
    /// The compressor is reused, because creating one takes as long as compressing a short answer. Even the
    /// fastest compression level saves three quarters of the bytes.
    static PACKER: RefCell<Compress> = RefCell::new(Compress::new_gzip(Compression::fast(), WINDOW));
}

/// Compresses an answer; `None` if it is short, or would not become shorter.
fn packed(bytes: &[u8]) -> Option<Vec<u8>> {
    PACKER.with_borrow_mut(|packer| pack(packer, bytes))
}

fn pack(packer: &mut Compress, bytes: &[u8]) -> Option<Vec<u8>> {
    if bytes.len() < LEAST {
        return None;
    }
    packer.reset();
    // If compression does not shorten the data, the result does not fit into this buffer.
    let mut packed = Vec::with_capacity(bytes.len());
    let status = packer.compress_vec(bytes, &mut packed, FlushCompress::Finish);
    matches!(status, Ok(Status::StreamEnd)).then_some(packed)
}

/// The value of the header `If-None-Match`: the entity tags of the answers that the client has.
fn known_tags(headers: &HeaderMap) -> Option<&str> {
    headers.get(IF_NONE_MATCH)?.to_str().ok()
}

/// The response `304 Not Modified`, if the client has the answer with this tag, compressed or not.
pub(super) fn known(headers: &HeaderMap, tag: &str) -> Option<Response> {
    let packed = packed_tag(tag);
    let tags = known_tags(headers)?.split(',').map(str::trim);
    let mut tags = tags.map(|known| known.strip_prefix("W/").unwrap_or(known));
    tags.find(|&known| known == tag || known == packed).map(not_modified)
}

/// The response `304 Not Modified`, if the client's header `If-None-Match` is `*`. Such a client has some
/// version of the answer, and any version is good enough.
pub(super) fn any_known(headers: &HeaderMap, tag: &str) -> Option<Response> {
    (known_tags(headers)?.trim() == "*").then(|| not_modified(tag))
}

/// A response, compressed if the client accepts compression and the answer becomes shorter. With a tag, the
/// client can avoid fetching the same answer again.
pub(super) fn whole(headers: &HeaderMap, content_type: &str, body: Vec<u8>, tag: Option<&str>) -> Response {
    let packed = if takes_packed(headers) { packed(&body) } else { None };
    respond(content_type, body.into(), packed.map(Bytes::from), tag)
}

fn takes_packed(headers: &HeaderMap) -> bool {
    let values = headers.get_all(ACCEPT_ENCODING).iter().filter_map(|value| value.to_str().ok());
    let mut codings = values.flat_map(|value| value.split(','));
    codings.any(|coding| {
        let (name, quality) = coding.split_once(';').unwrap_or((coding, ""));
        let quality =
            quality.trim().strip_prefix("q=").and_then(|quality| quality.trim().parse::<f32>().ok());
        name.trim().eq_ignore_ascii_case("gzip") && quality != Some(0.0)
    })
}

fn packed_tag(tag: &str) -> String {
    format!("{}-gzip\"", tag.strip_suffix('"').unwrap_or(tag))
}

fn not_modified(tag: &str) -> Response {
    (StatusCode::NOT_MODIFIED, [(ETAG, tag), (VARY, "accept-encoding")]).into_response()
}

/// A response with the compressed content, if there is one. Compressed content has another tag than
/// uncompressed content, because its bytes differ.
fn respond(content_type: &str, plain: Bytes, packed: Option<Bytes>, tag: Option<&str>) -> Response {
    let tag = tag.map(|tag| if packed.is_some() { packed_tag(tag) } else { tag.to_owned() });
    let headers = [(CONTENT_TYPE, content_type), (VARY, "accept-encoding")];
    let tag = tag.map(|tag| [(ETAG, tag)]);
    let encoding = packed.is_some().then_some([(CONTENT_ENCODING, "gzip")]);
    (headers, tag, encoding, packed.unwrap_or(plain)).into_response()
}

/// Content that does not change while the program runs: a file of the page, or the API description.
pub(super) struct StaticContent {
    content_type: &'static str,
    bytes: Bytes,
    packed: Option<Bytes>,
    tag: String,
}

impl StaticContent {
    pub(super) fn new(content_type: &'static str, bytes: Bytes) -> Self {
        let packed = pack(&mut Compress::new_gzip(Compression::best(), WINDOW), &bytes);
        let mut hasher = DefaultHasher::new();
        bytes.hash(&mut hasher);
        let tag = format!("\"{:016x}\"", hasher.finish());
        Self { content_type, packed: packed.map(Bytes::from), bytes, tag }
    }

    pub(super) fn answer(&self, headers: &HeaderMap) -> Response {
        known(headers, &self.tag).unwrap_or_else(|| {
            let packed = self.packed.clone().filter(|_| takes_packed(headers));
            respond(self.content_type, self.bytes.clone(), packed, Some(&self.tag))
        })
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;

    use axum::http::HeaderValue;
    use flate2::bufread::GzDecoder;

    use super::*;

    #[test]
    fn compressed_content_can_be_decompressed() {
        for text in ["e2e4,c7c5,".repeat(300), "1. e4 c5 ".repeat(100_000)] {
            let packed = packed(text.as_bytes()).expect("a shorter text");
            let mut unpacked = String::new();
            GzDecoder::new(&packed[..]).read_to_string(&mut unpacked).expect("it can be unpacked");
            assert_eq!(unpacked, text);
            assert!(packed.len() < text.len() / 10);
        }
        let mut state = 1_u64;
        let draw = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 32) as u8
        };
        let noise: Vec<u8> = std::iter::repeat_with(draw).take(5000).collect();
        assert_eq!(packed(&noise), None);
        assert_eq!(packed(&[b'x'; LEAST - 1]), None);
    }

    #[test]
    fn only_clients_that_accept_it_get_compressed_content() {
        let takes = |text: &'static str| {
            let headers = HeaderMap::from_iter([(ACCEPT_ENCODING, HeaderValue::from_static(text))]);
            takes_packed(&headers)
        };
        for text in ["gzip", "deflate, GZIP", "br;q=1.0, gzip;q=0.5", "gzip; q=1", "*;q=0.1, gzip"] {
            assert!(takes(text), "{text}");
        }
        for text in ["", "identity", "br", "gzip;q=0", "gzip; q=0.000", "notgzip", "*"] {
            assert!(!takes(text), "{text}");
        }
        assert!(!takes_packed(&HeaderMap::new()));
    }

    #[test]
    fn both_encodings_are_recognised_by_their_etags() {
        let known = |tags: &'static str| {
            let headers = HeaderMap::from_iter([(IF_NONE_MATCH, HeaderValue::from_static(tags))]);
            let response = known(&headers, "\"a\"")?;
            Some(response.headers()[ETAG].to_str().expect("a text").to_owned())
        };
        assert_eq!(known("\"a\"").as_deref(), Some("\"a\""));
        assert_eq!(known("\"b\", W/\"a-gzip\"").as_deref(), Some("\"a-gzip\""));
        assert_eq!(known("\"b\", \"a-br\""), None);
    }
}
