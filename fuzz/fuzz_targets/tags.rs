#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| pgndex_fuzz::tags(data));
