import { createHash, randomUUID } from "node:crypto";
import {
  chmodSync,
  closeSync,
  copyFileSync,
  existsSync,
  lstatSync,
  mkdirSync,
  openSync,
  readSync,
  realpathSync,
  renameSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";

/** Returns true if neither a path in a folder nor a folder above it is a link. */
export function isRealPlace(dir: string, path: string): boolean {
  const steps = path.split("/");
  if (steps.some((step) => step === "" || step === "." || step === "..")) return false;
  let place = existsSync(dir) ? realpathSync(dir) : dir;
  for (const step of steps) {
    place = join(place, step);
    if (lstatSync(place, { throwIfNoEntry: false })?.isSymbolicLink() === true) return false;
  }
  return true;
}

/** Writes a file that is complete or absent. */
export function writeWhole(path: string, content: string | Uint8Array, mode: number): void {
  replaceWhole(path, mode, (part) => writeFileSync(part, content, { mode }));
}

/** Copies a file. The copy is complete or absent. */
export function copyWhole(from: string, path: string, mode: number): void {
  replaceWhole(path, mode, (part) => copyFileSync(from, part));
}

function replaceWhole(path: string, mode: number, write: (part: string) => void): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const part = `${path}.${randomUUID()}.part`;
  write(part);
  chmodSync(part, mode | 0o600);
  renameSync(part, path);
}

export function sha256(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}

/** Size of the pieces in which files are read, in bytes. */
const PIECE_BYTES = 1_000_000;

/** Returns the SHA-256 of a file without reading it into memory as a whole. */
export function hashFile(path: string): string {
  const hash = createHash("sha256");
  const piece = Buffer.allocUnsafe(PIECE_BYTES);
  const descriptor = openSync(path, "r");
  try {
    for (;;) {
      const length = readSync(descriptor, piece);
      if (length === 0) return hash.digest("hex");
      hash.update(piece.subarray(0, length));
    }
  } finally {
    closeSync(descriptor);
  }
}
