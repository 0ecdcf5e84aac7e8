// The fields of a protobuf message, as its encoding says them: tag, then value.

type Field = [field: number, value: number | Uint8Array];

const [VARINT, EIGHT_BYTES, SIZED, FOUR_BYTES] = [0, 1, 2, 5];

/** @throws {RangeError} if the bytes are not such a message */
export function* fieldsOf(bytes: Uint8Array): Generator<Field> {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  let at = 0;
  const varint = () => {
    let value = 0;
    for (let scale = 1; ; scale *= 128) {
      const byte = view.getUint8(at++);
      value += (byte & 127) * scale;
      if (byte < 128) return value;
    }
  };
  while (at < bytes.length) {
    const tag = varint();
    const [field, type] = [Math.floor(tag / 8), tag & 7];
    if (type === VARINT) yield [field, varint()];
    else if (type === FOUR_BYTES) {
      yield [field, view.getFloat32(at, true)];
      at += 4;
    } else {
      const length = type === EIGHT_BYTES ? 8 : type === SIZED ? varint() : Infinity;
      if (at + length > bytes.length) throw new RangeError("a protobuf message that is cut");
      yield [field, bytes.subarray(at, at + length)];
      at += length;
    }
  }
}

export const textOf = (value: number | Uint8Array) => new TextDecoder().decode(value as Uint8Array);
