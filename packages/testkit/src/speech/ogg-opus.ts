/** Samples per second in the positions of an Ogg Opus stream, for any input. */
const SAMPLE_RATE = 48_000;
const SERIAL = 0x5167;

export interface OggOpusOptions {
  /** Duration in seconds. Default: 2. */
  readonly seconds?: number;
}

/**
 * Creates an Ogg Opus file with silence.
 *
 * @see https://www.rfc-editor.org/rfc/rfc7845
 */
export function createOggOpus({ seconds = 2 }: OggOpusOptions = {}): Buffer {
  const head = Buffer.alloc(19);
  head.write("OpusHead");
  // Version 1, one channel.
  head.set([1, 1], 8);
  head.writeUInt32LE(SAMPLE_RATE, 12);
  const tags = Buffer.alloc(16);
  tags.write("OpusTags");
  // A packet of 20 ms that contains silence.
  const silence = Buffer.from([0xf8, 0xff, 0xfe]);
  return Buffer.concat([
    createPage(2, 0, 0n, head),
    createPage(0, 1, 0n, tags),
    createPage(4, 2, BigInt(Math.round(seconds * SAMPLE_RATE)), silence),
  ]);
}

/** @param flags 2: first page, 4: last page */
function createPage(flags: number, sequence: number, position: bigint, packet: Buffer): Buffer {
  const header = Buffer.alloc(28);
  header.write("OggS");
  header[5] = flags;
  header.writeBigUInt64LE(position, 6);
  header.writeUInt32LE(SERIAL, 14);
  header.writeUInt32LE(sequence, 18);
  header.set([1, packet.length], 26);
  const page = Buffer.concat([header, packet]);
  page.writeUInt32LE(computeChecksum(page), 22);
  return page;
}

/** CRC-32 with the polynomial 0x04c11db7, without reflection. */
function computeChecksum(bytes: Uint8Array): number {
  let sum = 0;
  for (const byte of bytes) {
    sum ^= byte << 24;
    for (let bit = 0; bit < 8; bit++) sum = sum & 0x80000000 ? (sum << 1) ^ 0x04c11db7 : sum << 1;
  }
  return sum >>> 0;
}
