// Turns pictures into JPEG in a thread of its own: on the page's own thread Chromium encodes when that has nothing else
// to do, or after a second (on phones, four). On a busy page each picture would wait that long.
const canvas = new OffscreenCanvas(1, 1);
const context = canvas.getContext("2d", { alpha: false, willReadFrequently: true });

onmessage = async ({ data: { number, bitmap } }) => {
  try {
    const { width, height } = bitmap;
    if (canvas.width !== width) canvas.width = width;
    if (canvas.height !== height) canvas.height = height;
    context.drawImage(bitmap, 0, 0);
    const jpeg = await canvas.convertToBlob({ type: "image/jpeg", quality: 0.8 });
    postMessage({ number, jpeg, bitmap }, [bitmap]);
  } catch (error) {
    postMessage({ number, fault: String(error) });
  }
};
