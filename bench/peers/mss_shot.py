"""mss + Pillow: grab the screen, scale to a long edge of 1568, JPEG 80, base64. In process, warm."""

import base64
import io

import mss
from PIL import Image

from peer import serve

screen = mss.mss()
monitor = screen.monitors[1]


def sample(_line):
    shot = screen.grab(monitor)
    image = Image.frombytes("RGB", shot.size, shot.bgra, "raw", "BGRX")
    scale = 1568 / max(image.size)
    if scale < 1:
        image = image.resize((round(image.width * scale), round(image.height * scale)), Image.Resampling.BILINEAR)
    out = io.BytesIO()
    image.save(out, "JPEG", quality=80)
    base64.b64encode(out.getvalue())


serve(sample)
