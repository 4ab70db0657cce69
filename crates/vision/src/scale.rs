//! Making a picture smaller.

use deskhand_protocol::Size;
use fast_image_resize::images::{Image, ImageRef};
use fast_image_resize::{FilterType, PixelType, ResizeAlg, ResizeOptions, Resizer};

use crate::{Pixels, VisionError};

/// The size that keeps the shape with no edge longer than `long_edge`; never larger than it was.
#[must_use]
pub fn fit(size: Size, long_edge: u32) -> Size {
    let longest = size.width.max(size.height);
    if longest <= long_edge || longest == 0 {
        return size;
    }
    let shrink = |edge: u32| {
        let scaled = (u64::from(edge) * u64::from(long_edge) + u64::from(longest) / 2) / u64::from(longest);
        u32::try_from(scaled).unwrap_or(long_edge).max(1)
    };
    Size { width: shrink(size.width), height: shrink(size.height) }
}

/// Scales to exactly `to`.
pub fn scale(from: Pixels<'_>, to: Size) -> Result<Vec<u8>, VisionError> {
    from.check()?;
    if from.size == to {
        return Ok(from.data.to_vec());
    }
    let source = ImageRef::new(from.size.width, from.size.height, from.data, PixelType::U8x4)
        .map_err(|e| VisionError::Scale(e.to_string()))?;
    let mut target = Image::new(to.width, to.height, PixelType::U8x4);
    // The fourth byte is not an alpha value, so it must not be multiplied in.
    let options =
        ResizeOptions::new().resize_alg(ResizeAlg::Convolution(FilterType::Bilinear)).use_alpha(false);
    Resizer::new().resize(&source, &mut target, &options).map_err(|e| VisionError::Scale(e.to_string()))?;
    Ok(target.into_vec())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fit_keeps_the_shape_and_never_grows() {
        let cases = [
            ((1920, 1080), (1568, 882)),
            ((1080, 1920), (882, 1568)),
            ((800, 600), (800, 600)),
            ((1568, 10), (1568, 10)),
            ((4001, 1), (1568, 1)),
            ((1367, 769), (1367, 769)),
            ((2561, 1441), (1568, 882)),
        ];
        for ((w, h), (fw, fh)) in cases {
            let got = fit(Size { width: w, height: h }, 1568);
            assert_eq!((got.width, got.height), (fw, fh), "{w}x{h}");
        }
    }

    #[test]
    fn scale_keeps_flat_colour_whatever_the_fourth_byte_is() {
        let data = [10, 20, 30, 0].repeat(64 * 64);
        let size = Size { width: 64, height: 64 };
        let out = scale(Pixels { data: &data, size }, Size { width: 31, height: 17 }).unwrap();
        assert!(out.chunks(4).all(|p| p[..3] == [10, 20, 30]));
    }

    #[test]
    fn a_short_buffer_is_an_error() {
        let size = Size { width: 64, height: 64 };
        assert!(scale(Pixels { data: &[0; 8], size }, Size { width: 1, height: 1 }).is_err());
    }
}
