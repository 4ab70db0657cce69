//! JPEG and PNG.

use std::borrow::Cow;

use turbojpeg::{Compressor, Image, PixelFormat, Subsamp};

use crate::{Pixels, VisionError};

/// A picture format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Without loss.
    Png,
    /// Quality 1 to 100.
    Jpeg(u8),
}

/// Encodes a picture.
pub fn encode(pixels: Pixels<'_>, format: Format) -> Result<Vec<u8>, VisionError> {
    pixels.check()?;
    match format {
        Format::Png => png(pixels),
        Format::Jpeg(quality) => jpeg(pixels, quality),
    }
}

/// Standard base64 with padding.
#[must_use]
pub fn to_base64(bytes: &[u8]) -> String {
    base64_simd::STANDARD.encode_to_string(bytes)
}

/// The bytes of standard base64 with padding; `None` when it is not.
#[must_use]
pub fn from_base64(text: &str) -> Option<Vec<u8>> {
    base64_simd::STANDARD.decode_to_vec(text).ok()
}

fn jpeg(pixels: Pixels<'_>, quality: u8) -> Result<Vec<u8>, VisionError> {
    let encode = || -> turbojpeg::Result<Vec<u8>> {
        let mut compressor = Compressor::new()?;
        compressor.set_quality(i32::from(quality.clamp(1, 100)))?;
        compressor.set_subsamp(Subsamp::Sub2x2)?;
        let width = pixels.size.width as usize;
        compressor.compress_to_vec(Image {
            pixels: pixels.data,
            width,
            pitch: width * 4,
            height: pixels.size.height as usize,
            format: PixelFormat::BGRX,
        })
    };
    encode().map_err(|e| VisionError::Encode(e.to_string()))
}

fn png(pixels: Pixels<'_>) -> Result<Vec<u8>, VisionError> {
    let mut rgb = vec![0u8; pixels.data.len() / 4 * 3];
    for (to, from) in rgb.chunks_exact_mut(3).zip(pixels.data.chunks_exact(4)) {
        to.copy_from_slice(&[from[2], from[1], from[0]]);
    }
    let mut out = Vec::new();
    let mut info = png::Info::with_size(pixels.size.width, pixels.size.height);
    info.color_type = png::ColorType::Rgb;
    info.bit_depth = png::BitDepth::Eight;
    info.palette = None::<Cow<'_, [u8]>>;
    let fail = |e: png::EncodingError| VisionError::Encode(e.to_string());
    let mut encoder = png::Encoder::with_info(&mut out, info).map_err(fail)?;
    encoder.set_compression(png::Compression::Fast);
    let mut writer = encoder.write_header().map_err(fail)?;
    writer.write_image_data(&rgb).map_err(fail)?;
    writer.finish().map_err(fail)?;
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use deskhand_protocol::Size;

    fn picture() -> (Vec<u8>, Size) {
        let size = Size { width: 33, height: 21 };
        let data = (0..size.width * size.height).flat_map(|i| [(i % 251) as u8, 7, 200, 0]).collect();
        (data, size)
    }

    #[test]
    fn png_gives_the_same_pixels_back() {
        let (data, size) = picture();
        let bytes = encode(Pixels { data: &data, size }, Format::Png).unwrap();
        let mut reader = png::Decoder::new(std::io::Cursor::new(bytes)).read_info().unwrap();
        let mut back = vec![0; reader.output_buffer_size().unwrap()];
        let info = reader.next_frame(&mut back).unwrap();
        assert_eq!((info.width, info.height), (33, 21));
        for (a, b) in data.chunks(4).zip(back.chunks(3)) {
            assert_eq!([a[2], a[1], a[0]], b);
        }
    }

    #[test]
    fn jpeg_has_the_right_size_and_nearly_the_right_colour() {
        let data = [30, 60, 200, 9].repeat(40 * 20);
        let size = Size { width: 40, height: 20 };
        let bytes = encode(Pixels { data: &data, size }, Format::Jpeg(80)).unwrap();
        let image = turbojpeg::decompress(&bytes, PixelFormat::BGRX).unwrap();
        assert_eq!((image.width, image.height), (40, 20));
        for (got, want) in image.pixels[..3].iter().zip([30u8, 60, 200]) {
            assert!(got.abs_diff(want) < 8, "{got} {want}");
        }
    }
}
