//! Pixels: scale, encode, and the exact way back from an image to the desktop.
//!
//! Pure: bytes in, bytes out. Knows no display.

mod encode;
mod mapping;
mod scale;

pub use encode::{Format, encode, from_base64, to_base64};
pub use mapping::Mapping;
pub use scale::{fit, scale};

/// Rows of B, G, R, unused, without padding.
#[derive(Clone, Copy)]
pub struct Pixels<'a> {
    /// `width * height * 4` bytes.
    pub data: &'a [u8],
    /// Pixels across and down.
    pub size: deskhand_protocol::Size,
}

/// What can go wrong with pixels.
#[derive(Debug, thiserror::Error)]
pub enum VisionError {
    /// The buffer does not hold the size it claims.
    #[error("a picture of {width}x{height} needs {needed} bytes, not {got}")]
    Length {
        /// Pixels across.
        width: u32,
        /// Pixels down.
        height: u32,
        /// Bytes it needs.
        needed: usize,
        /// Bytes there are.
        got: usize,
    },
    /// Scaling failed.
    #[error("scaling failed: {0}")]
    Scale(String),
    /// Encoding failed.
    #[error("encoding failed: {0}")]
    Encode(String),
}

impl Pixels<'_> {
    /// Checks that the bytes are as many as the size says.
    pub(crate) fn check(&self) -> Result<(), VisionError> {
        let needed = self.size.width as usize * self.size.height as usize * 4;
        if needed == 0 || self.data.len() != needed {
            return Err(VisionError::Length {
                width: self.size.width,
                height: self.size.height,
                needed,
                got: self.data.len(),
            });
        }
        Ok(())
    }
}
