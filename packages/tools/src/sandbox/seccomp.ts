/** System call numbers of a processor architecture, from the kernel's tables. */
interface Numbers {
  readonly audit: number;
  /** Numbers at or above this value belong to another table (x32). */
  readonly below?: number;
  readonly socket: number;
  /** Calls that fail as if the kernel did not implement them. */
  readonly missing: readonly number[];
  /** Calls that set a file's mode, with the index of the mode argument. */
  readonly modes: readonly (readonly [call: number, argument: number])[];
  /** Calls whose mode argument applies only if the flags create a file. */
  readonly opening: readonly (readonly [call: number, flags: number, mode: number])[];
}

/**
 * `missing` contains calls for memory that is neither mapped nor limited (memfd_create, memfd_secret, shmget, msgget),
 * the kernel's keyring (add_key, request_key, keyctl), interfaces that bypass this filter or reach deep into the kernel
 * (io_uring_*, bpf, perf_event_open, userfaultfd), and openat2, whose mode a filter cannot read. Programs fall back
 * from openat2 to openat.
 */
const PROCESSORS: Readonly<Partial<Record<NodeJS.Architecture, Numbers>>> = {
  x64: {
    audit: 0xc000003e,
    below: 0x40000000,
    socket: 41,
    missing: [319, 447, 29, 68, 248, 249, 250, 425, 426, 427, 321, 298, 323, 437],
    // chmod, fchmod, fchmodat, fchmodat2, mknod, mknodat, mkdir, mkdirat, creat
    modes: [
      ...([
        [90, 1],
        [91, 1],
        [268, 2],
        [452, 2],
        [133, 1],
        [259, 2],
        [83, 1],
        [258, 2],
        [85, 1],
      ] as const),
    ],
    // open, openat
    opening: [
      [2, 1, 2],
      [257, 2, 3],
    ],
  },
  arm64: {
    audit: 0xc00000b7,
    socket: 198,
    missing: [279, 447, 194, 186, 217, 218, 219, 425, 426, 427, 280, 241, 282, 437],
    // fchmod, fchmodat, fchmodat2, mknodat, mkdirat
    modes: [
      ...([
        [52, 1],
        [53, 2],
        [452, 2],
        [33, 2],
        [34, 2],
      ] as const),
    ],
    // openat
    opening: [[56, 2, 3]],
  },
};

/** AF_UNIX, AF_INET, AF_INET6 and AF_NETLINK, which programs need for local communication. */
const ADDRESS_FAMILIES = [1, 2, 10, 16];
const SET_ID_BITS = 0o6000;
/** O_CREAT and O_TMPFILE. */
const MAKES_FILE = 0o100 | 0o20000000;

const ALLOW = 0x7fff0000;
const KILL = 0x80000000;
const ERRNO = 0x00050000;
const EPERM = 1;
const ENOSYS = 38;
const EAFNOSUPPORT = 97;

/**
 * Creates a filter for `bwrap --seccomp`: compiled classic BPF over `struct seccomp_data`, see seccomp(2). The filter
 * rejects sockets of other address families, files with the set-user-id or set-group-id bit, and some kernel
 * interfaces. Returns undefined for unknown processor architectures.
 */
export function createSeccompFilter(architecture: NodeJS.Architecture): Buffer | undefined {
  const numbers = PROCESSORS[architecture];
  if (numbers === undefined) return undefined;
  const { audit, below, socket, missing, modes, opening } = numbers;
  return Buffer.concat([
    load(4),
    ...unless(EQUAL, audit, [returnAction(KILL)]),
    load(0),
    ...(below === undefined ? [] : when(AT_LEAST, below, [returnAction(ERRNO | ENOSYS)])),
    ...missing.flatMap((call) => when(EQUAL, call, [returnAction(ERRNO | ENOSYS)])),
    ...when(EQUAL, socket, [
      loadArgument(0),
      ...ADDRESS_FAMILIES.flatMap((family) => when(EQUAL, family, [returnAction(ALLOW)])),
      returnAction(ERRNO | EAFNOSUPPORT),
    ]),
    ...modes.flatMap(([call, mode]) => when(EQUAL, call, modeCheck(mode))),
    ...opening.flatMap(([call, flags, mode]) =>
      when(EQUAL, call, [
        loadArgument(flags),
        ...unless(ANY_BIT, MAKES_FILE, [returnAction(ALLOW)]),
        ...modeCheck(mode),
      ]),
    ),
    returnAction(ALLOW),
  ]);
}

function modeCheck(argument: number): Buffer[] {
  return [
    loadArgument(argument),
    ...when(ANY_BIT, SET_ID_BITS, [returnAction(ERRNO | EPERM)]),
    returnAction(ALLOW),
  ];
}

const EQUAL = 0x15;
const AT_LEAST = 0x35;
const ANY_BIT = 0x45;

/** Runs `then` if the comparison with the loaded word is true. Otherwise continues after it. */
function when(comparison: number, value: number, then: readonly Buffer[]): Buffer[] {
  return [instruction(comparison, value, 0, then.length), ...then];
}

function unless(comparison: number, value: number, then: readonly Buffer[]): Buffer[] {
  return [instruction(comparison, value, then.length, 0), ...then];
}

function returnAction(action: number): Buffer {
  return instruction(0x06, action >>> 0, 0, 0);
}

/** Loads 32 bits at an offset in `struct seccomp_data`. */
function load(offset: number): Buffer {
  return instruction(0x20, offset, 0, 0);
}

/** Loads the lower half of an argument, which contains the whole mode, flags or address family. */
function loadArgument(index: number): Buffer {
  return load(16 + 8 * index);
}

/** Encodes a `struct sock_filter` in little-endian order, which both architectures use. */
function instruction(code: number, value: number, jumpTrue: number, jumpFalse: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeUInt16LE(code, 0);
  bytes.writeUInt8(jumpTrue, 2);
  bytes.writeUInt8(jumpFalse, 3);
  bytes.writeUInt32LE(value, 4);
  return bytes;
}
