// Reads gray PNG files of 8 bits.

const SIGNATURE = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a];

/** Width, height, and the gray values row by row. */
export async function decodeGray(file) {
  if (!SIGNATURE.every((byte, i) => file[i] === byte)) throw new Error('not a PNG file');
  const view = new DataView(file.buffer);
  const packed = [];
  let width, height;
  for (let at = SIGNATURE.length; at + 8 <= file.length; ) {
    const size = view.getUint32(at);
    const kind = String.fromCharCode(...file.subarray(at + 4, at + 8));
    const body = file.subarray(at + 8, at + 8 + size);
    if (kind === 'IHDR') {
      [width, height] = [view.getUint32(at + 8), view.getUint32(at + 12)];
      if (body.subarray(8).join() !== '8,0,0,0,0') throw new Error('not a plain gray image of 8 bits');
    } else if (kind === 'IDAT') {
      packed.push(body);
    }
    at += size + 12; // with the checksum
  }
  return { width, height, gray: unfilter(await inflate(packed), width, height) };
}

async function inflate(parts) {
  const stream = new DecompressionStream('deflate');
  const writer = stream.writable.getWriter();
  for (const part of parts) writer.write(part);
  writer.close();
  const bytes = [];
  for (const reader = stream.readable.getReader(); ; ) {
    const { done, value } = await reader.read();
    if (done) return bytes;
    bytes.push(...value);
  }
}

/** Each row is stored as a filter's number and what the pixels differ by from what that filter predicts. */
function unfilter(data, width, height) {
  const gray = new Uint8Array(width * height);
  const pixel = (x, y) => (x < 0 || y < 0 ? 0 : gray[y * width + x]);
  for (let y = 0; y < height; ++y) {
    const row = y * (width + 1);
    for (let x = 0; x < width; ++x) {
      const [left, up, corner] = [pixel(x - 1, y), pixel(x, y - 1), pixel(x - 1, y - 1)];
      const predicted = [0, left, up, (left + up) >> 1, paeth(left, up, corner)][data[row]];
      gray[y * width + x] = data[row + 1 + x] + predicted;
    }
  }
  return gray;
}

/** Which of the three is nearest to left + up - corner. */
function paeth(left, up, corner) {
  const far = (value) => Math.abs(left + up - corner - value);
  if (far(left) <= far(up) && far(left) <= far(corner)) return left;
  return far(up) <= far(corner) ? up : corner;
}
