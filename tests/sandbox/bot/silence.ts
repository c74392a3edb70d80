const rate = 48_000;
const frameMs = 20;
/** An Opus frame of 20 ms of silence (RFC 6716: CELT, full band, mono). */
const silentFrame = Buffer.from([0xf8, 0xff, 0xfe]);
/** A page has up to 255 segments. */
const framesPerPage = 50;
const [first, last] = [2, 4];
const serial = 1;

/** An Ogg file with seconds of silence, encoded as Opus (RFC 7845), that browsers play. */
export function silence(seconds: number): Buffer {
  const frames = (seconds * 1000) / frameMs;
  const pages = [page(0, first, 0, [head()]), page(1, 0, 0, [tags()])];
  for (let done = 0; done < frames;) {
    const count = Math.min(framesPerPage, frames - done);
    done += count;
    const samples = (done * frameMs * rate) / 1000;
    pages.push(
      page(
        pages.length,
        done === frames ? last : 0,
        samples,
        Array.from({ length: count }, () => silentFrame),
      ),
    );
  }
  return Buffer.concat(pages);
}

function head(): Buffer {
  const bytes = Buffer.alloc(19);
  bytes.write('OpusHead');
  bytes.writeUInt8(1, 8);
  bytes.writeUInt8(1, 9);
  bytes.writeUInt32LE(rate, 12);
  return bytes;
}

function tags(): Buffer {
  const vendor = Buffer.from('solace');
  const length = Buffer.alloc(4);
  length.writeUInt32LE(vendor.length);
  return Buffer.concat([Buffer.from('OpusTags'), length, vendor, Buffer.alloc(4)]);
}

/** A page of packets that are shorter than a segment (255 bytes). */
function page(sequence: number, flags: number, granule: number, packets: Buffer[]): Buffer {
  const header = Buffer.alloc(27);
  header.write('OggS');
  header.writeUInt8(flags, 5);
  header.writeBigUInt64LE(BigInt(granule), 6);
  header.writeUInt32LE(serial, 14);
  header.writeUInt32LE(sequence, 18);
  header.writeUInt8(packets.length, 26);
  const lengths = Buffer.from(packets.map(({ length }) => length));
  const whole = Buffer.concat([header, lengths, ...packets]);
  whole.writeUInt32LE(checksum(whole), 22);
  return whole;
}

/** The CRC-32 of RFC 3533: polynomial 0x04c11db7, neither reflected nor inverted. */
function checksum(bytes: Buffer): number {
  let crc = 0;
  for (const byte of bytes) {
    crc ^= byte << 24;
    for (let bit = 0; bit < 8; bit += 1) crc = crc & 0x80000000 ? (crc << 1) ^ 0x04c11db7 : crc << 1;
  }
  return crc >>> 0;
}
