/** A frame of the long connection, which is a protobuf message. Source: `pbbp2.proto` of the vendor's SDKs. */
export interface Frame {
  /** 0 control, 1 data. */
  readonly method: number;
  readonly service: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly payload: Uint8Array;
}

function varint(value: number): number[] {
  const bytes: number[] = [];
  let rest = value;
  while (rest > 127) {
    bytes.push((rest % 128) + 128);
    rest = Math.floor(rest / 128);
  }
  return [...bytes, rest];
}

function field(number: number, bytes: Uint8Array): Buffer {
  return Buffer.concat([Buffer.from([number * 8 + 2, ...varint(bytes.byteLength)]), bytes]);
}

export function encodeFrame(frame: Frame): Buffer {
  const numbers = [8, 0, 16, 0, 24, ...varint(frame.service), 32, ...varint(frame.method)];
  const headers = Object.entries(frame.headers).map(([key, value]) =>
    field(5, Buffer.concat([field(1, Buffer.from(key)), field(2, Buffer.from(value))])),
  );
  return Buffer.concat([Buffer.from(numbers), ...headers, field(8, frame.payload)]);
}

export function decodeFrame(bytes: Uint8Array): Frame {
  const numbers = new Map<number, number>();
  const headers: Record<string, string> = {};
  let payload: Uint8Array = new Uint8Array();
  for (const [number, value] of fields(bytes)) {
    if (typeof value === "number") numbers.set(number, value);
    else if (number === 8) payload = value;
    else if (number === 5) {
      const [key = "", text = ""] = [...fields(value)].map(([, part]) =>
        Buffer.from(part instanceof Uint8Array ? part : []).toString(),
      );
      headers[key] = text;
    }
  }
  return { method: numbers.get(4) ?? 0, service: numbers.get(3) ?? 0, headers, payload };
}

function* fields(bytes: Uint8Array): Generator<[number, number | Uint8Array]> {
  let at = 0;
  const read = (): number => {
    let value = 0;
    for (let scale = 1; ; scale *= 128) {
      const byte = bytes[at] ?? 0;
      at += 1;
      value += (byte % 128) * scale;
      if (byte < 128) return value;
    }
  };
  while (at < bytes.byteLength) {
    const tag = read();
    const value = read();
    if (tag % 8 === 0) yield [Math.floor(tag / 8), value];
    else {
      yield [Math.floor(tag / 8), bytes.subarray(at, at + value)];
      at += value;
    }
  }
}
