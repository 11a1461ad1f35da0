//! Compresses answers, and handles conditional requests.

use std::cell::RefCell;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use axum::body::{Body, Bytes};
use axum::http::header::{
    ACCEPT_ENCODING, CONTENT_ENCODING, CONTENT_TYPE, ETAG, HeaderName, IF_NONE_MATCH, VARY,
};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::Response;
use flate2::{Compress, Compression, FlushCompress, Status};

/// The minimum size of a compressed answer, in bytes. Compressing a shorter answer saves little, because
/// headers and network overhead stay the same.
const LEAST: usize = 2048;
/// The size of the compression window in bytes, as an exponent of 2.
const WINDOW: u8 = 15;

thread_local! {
    /// The compressor is kept, because creating one takes as long as compressing a short answer. The fastest
    /// level already saves three quarters of the bytes.
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

/// The encodings that a client accepts, and the entity tags it has.
pub(super) struct AcceptedEncodings {
    takes_packed: bool,
    known: Option<String>,
}

impl AcceptedEncodings {
    pub(super) fn from_headers(headers: &HeaderMap) -> Self {
        let known = headers.get(IF_NONE_MATCH).and_then(|tags| tags.to_str().ok()).map(str::to_owned);
        Self { takes_packed: takes_packed(headers), known }
    }

    /// The response `304 Not Modified`, if the client has the answer with this tag, compressed or not.
    pub(super) fn known(&self, tag: &str) -> Option<Response> {
        let packed = packed_tag(tag);
        let tags = self.known.as_deref()?.split(',').map(str::trim);
        let mut tags = tags.map(|known| known.strip_prefix("W/").unwrap_or(known));
        tags.find(|&known| known == tag || known == packed).map(not_modified)
    }

    /// The response `304 Not Modified`, if the client's header `If-None-Match` is `*`: it has some version of
    /// the answer, and any version is good enough.
    pub(super) fn any(&self, tag: &str) -> Option<Response> {
        (self.known.as_deref()?.trim() == "*").then(|| not_modified(tag))
    }

    /// A response, compressed if the client accepts that and it becomes shorter. With a tag, the client can
    /// avoid fetching the answer again.
    pub(super) fn whole(&self, content_type: &str, body: Vec<u8>, tag: Option<&str>) -> Response {
        match self.takes_packed.then(|| packed(&body)).flatten() {
            Some(packed) => as_packed(content_type, packed.into(), tag),
            None => as_it_is(content_type, body.into(), tag),
        }
    }
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
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::NOT_MODIFIED;
    set_header(response.headers_mut(), ETAG, tag);
    response.headers_mut().insert(VARY, HeaderValue::from_static("accept-encoding"));
    response
}

fn as_it_is(content_type: &str, body: Bytes, tag: Option<&str>) -> Response {
    let mut response = Response::new(Body::from(body));
    let headers = response.headers_mut();
    set_header(headers, CONTENT_TYPE, content_type);
    headers.insert(VARY, HeaderValue::from_static("accept-encoding"));
    if let Some(tag) = tag {
        set_header(headers, ETAG, tag);
    }
    response
}

/// A compressed response. Its tag differs from that of the uncompressed one, because its bytes differ.
fn as_packed(content_type: &str, body: Bytes, tag: Option<&str>) -> Response {
    let mut response = as_it_is(content_type, body, tag.map(packed_tag).as_deref());
    response.headers_mut().insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    response
}

/// Sets a header of a response. Ignores a value that a header cannot have.
pub(super) fn set_header(headers: &mut HeaderMap, name: HeaderName, value: &str) {
    if let Ok(value) = HeaderValue::from_str(value) {
        headers.insert(name, value);
    }
}

/// Content that does not change while the program runs: a file of the page, the API description.
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
        let wanted = AcceptedEncodings::from_headers(headers);
        if let Some(known) = wanted.known(&self.tag) {
            return known;
        }
        match self.packed.as_ref().filter(|_| wanted.takes_packed) {
            Some(packed) => as_packed(self.content_type, packed.clone(), Some(&self.tag)),
            None => as_it_is(self.content_type, self.bytes.clone(), Some(&self.tag)),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;

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
        let known = |tags: &str| {
            let wanted = AcceptedEncodings { takes_packed: true, known: Some(tags.to_owned()) };
            let response = wanted.known("\"a\"")?;
            Some(response.headers()[ETAG].to_str().expect("a text").to_owned())
        };
        assert_eq!(known("\"a\"").as_deref(), Some("\"a\""));
        assert_eq!(known("\"b\", W/\"a-gzip\"").as_deref(), Some("\"a-gzip\""));
        assert_eq!(known("\"b\", \"a-br\""), None);
    }
}
