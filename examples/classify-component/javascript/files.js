// The program's arguments and files, through wasi: interfaces, which componentize-js turns into modules.

import { getArguments } from 'wasi:cli/environment@0.2.0';
import { getDirectories } from 'wasi:filesystem/preopens@0.2.0';

/** The arguments without the program's own name. */
export const programArguments = () => getArguments().slice(1);

/** The bytes of a file in one of the folders that the host opened. */
export function readFile(path) {
  for (const [folder, name] of getDirectories()) {
    const prefix = name === '.' ? '' : `${name}/`;
    if (path.startsWith(prefix)) return read(folder, path.slice(prefix.length));
  }
  throw new Error('in no folder that the host opened');
}

function read(folder, path) {
  try {
    const file = folder.openAt({ symlinkFollow: true }, path, {}, { read: true });
    const bytes = [];
    for (let ended = false; !ended; ) {
      const [part, atEnd] = file.read(65536n, BigInt(bytes.length));
      bytes.push(...part);
      ended = atEnd || part.length === 0;
    }
    return Uint8Array.from(bytes);
  } catch (error) {
    throw new Error(error.payload ?? error); // the case of wasi's error-code
  }
}
