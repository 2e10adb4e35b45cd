"""What nobody can do without: capture, grey, small, JPEG, ten times a second. Prints how many frames it has made."""

import sys
import time

import cv2

FPS = 10.0
WIDTH_PX, HEIGHT_PX, QUALITY = 640, 480, 80


def main() -> None:
    capture = cv2.VideoCapture(sys.argv[1])
    due = time.monotonic()
    made = 0
    while True:
        is_read, pixels = capture.read()
        if not is_read:
            capture.set(cv2.CAP_PROP_POS_FRAMES, 0)
            continue
        grey = cv2.cvtColor(pixels, cv2.COLOR_BGR2GRAY)
        height_px, width_px = grey.shape
        scale = min(WIDTH_PX / width_px, HEIGHT_PX / height_px)
        if scale < 1:
            size = (round(width_px * scale), round(height_px * scale))
            grey = cv2.resize(grey, size, interpolation=cv2.INTER_AREA)
        cv2.imencode(".jpg", grey, [cv2.IMWRITE_JPEG_QUALITY, QUALITY])
        made += 1
        print(made, flush=True)
        due += 1 / FPS
        time.sleep(max(0.0, due - time.monotonic()))


if __name__ == "__main__":
    main()
