//! Pictures inside results.

use serde_json::Value;

/// Where tools put pictures.
const PLACES: [&str; 2] = ["/image", "/screenshot/image"];
/// Shorter texts are shown as they are.
const SHOWN: usize = 200;

/// The picture of a result, decoded. `None` when there is none, or it is not base64.
pub(crate) fn decode(result: &Value) -> Option<Vec<u8>> {
    let text = PLACES.iter().find_map(|place| result.pointer(place).and_then(Value::as_str))?;
    base64_simd::STANDARD.decode_to_vec(text).ok()
}

/// Replaces pictures by words, since nobody reads base64.
pub(crate) fn hide(result: &mut Value, words: impl Fn(usize) -> String) {
    for place in PLACES {
        match result.pointer_mut(place) {
            Some(Value::String(text)) if text.len() > SHOWN => *text = words(kilobytes(text.len() / 4 * 3)),
            _ => {}
        }
    }
}

/// Bytes in thousands, at least one.
pub(crate) fn kilobytes(bytes: usize) -> usize {
    bytes.div_ceil(1000).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn pictures_are_found_decoded_and_hidden() {
        let text = base64_simd::STANDARD.encode_to_string([7u8; 3000]);
        for mut result in [json!({ "image": text, "width": 1 }), json!({ "screenshot": { "image": text } })] {
            assert_eq!(decode(&result), Some(vec![7; 3000]));
            hide(&mut result, |kb| format!("{kb} kB"));
            assert!(result.to_string().contains("\"3 kB\""), "{result}");
        }
        assert_eq!(decode(&json!({ "text": "x" })), None);
        assert_eq!(decode(&json!({ "image": "%" })), None);
        assert_eq!(decode(&json!("x")), None);
    }
}
