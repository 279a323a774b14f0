// Images and sounds, decoded by the browser, as numbers.

const MOST_SIDE = 8192;

// RGBA, of this size. `fit`: "stretch", or "crop" to the middle.
export async function decodeImage(file, width, height, fit, canvas) {
  let image;
  try {
    image = await createImageBitmap(file);
  } catch {
    throw new Error(`${file.name} is not an image that this browser can read`);
  }
  if (!(width >= 1 && height >= 1 && width <= MOST_SIDE && height <= MOST_SIDE)) {
    throw new Error(`${width} × ${height} is not a size for an image`);
  }
  let [x, y, w, h] = [0, 0, image.width, image.height];
  if (fit === "crop") {
    const scale = Math.min(w / width, h / height);
    [x, y] = [(w - scale * width) / 2, (h - scale * height) / 2];
    [w, h] = [scale * width, scale * height];
  }
  canvas.width = width;
  canvas.height = height;
  const context = canvas.getContext("2d", {willReadFrequently: true});
  context.imageSmoothingQuality = "high";
  context.drawImage(image, x, y, w, h, 0, 0, width, height);
  image.close();
  return context.getImageData(0, 0, width, height).data;
}

// The value in a channel for 0 to 255.
export function scaler(how, means, deviations) {
  switch (how) {
    case "unit": return (value) => value / 255;
    case "signed": return (value) => value / 127.5 - 1;
    case "normal": return (value, channel) =>
      (value / 255 - (means[channel] ?? means[0])) / (deviations[channel] ?? deviations[0]);
    default: return (value) => value;
  }
}

// Pixels of RGBA in the order of a layout: "NCHW" or "NHWC", of one channel (luminance) or three.
export function arrange(rgba, channels, layout, scale) {
  const pixels = rgba.length / 4;
  const numbers = new Float32Array(pixels * channels);
  for (let i = 0; i < pixels; ++i) {
    const [r, g, b] = [rgba[4 * i], rgba[4 * i + 1], rgba[4 * i + 2]];
    const values = channels === 1 ? [0.299 * r + 0.587 * g + 0.114 * b] : [r, g, b];
    for (let c = 0; c < channels; ++c) {
      numbers[layout === "NCHW" ? c * pixels + i : i * channels + c] = scale(values[c], c);
    }
  }
  return numbers;
}

// One channel of -1 to 1, of so many samples in a second.
export async function decodeSound(file, rate) {
  if (!(rate >= 3000 && rate <= 384000)) throw new Error(`${rate} Hz is not a rate that this browser knows`);
  let sound;
  try {
    sound = await new OfflineAudioContext(1, 1, rate).decodeAudioData(await file.arrayBuffer());
  } catch {
    throw new Error(`${file.name} is not a sound that this browser can read`);
  }
  const samples = new Float32Array(sound.length);
  for (let c = 0; c < sound.numberOfChannels; ++c) {
    const channel = sound.getChannelData(c);
    for (let i = 0; i < samples.length; ++i) samples[i] += channel[i] / sound.numberOfChannels;
  }
  return samples;
}
