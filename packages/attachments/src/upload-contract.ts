/** Files that clients upload in pieces before they send a message that refers to them. */
export interface Uploads {
  /** Appends a piece to a file. The first piece creates it. */
  add(piece: UploadPiece): Promise<UploadAdded>;
  /** Resolves to `undefined` if the file does not exist. */
  open(
    owner: string,
    id: string,
  ): Promise<{ readonly body: ReadableStream<Uint8Array>; readonly size: number } | undefined>;
  /** Removes all files of an owner. */
  remove(owner: string): Promise<void>;
  /**
   * Removes files to which nothing was appended for a day.
   *
   * @param needed returns the files that are still needed, however old they are
   * @returns the number of removed files
   */
  prune(needed: () => Promise<readonly UploadName[]>): Promise<number>;
}

/** Identifies an upload. */
export interface UploadName {
  /** A client or a message. Only the owner can refer to the file, and quotas apply per owner. */
  readonly owner: string;
  /** Chosen by the client: 16 to 64 letters, digits, `_` and `-`. */
  readonly id: string;
}

export interface UploadPiece extends UploadName {
  /** Offset of the piece in the file. */
  readonly at: number;
  readonly bytes: Uint8Array;
}

/** The result of adding a piece. */
export interface UploadAdded {
  /**
   * - `out_of_order`: the piece does not continue the file.
   * - `too_large`: the file would exceed `maxBytes`.
   * - `full`: a quota of the owner, or of all owners together, is used up.
   */
  readonly kind: "added" | "out_of_order" | "too_large" | "full";
  /** The present size of the file. */
  readonly bytes: number;
}

/** Limits on uploads. */
export interface UploadLimits {
  /** Maximum size of one file. */
  readonly maxBytes: number;
  /** Maximum size of all files of one owner. Default 100,000,000. */
  readonly quotaBytes?: number;
  /** Maximum number of files of one owner. Default 100. */
  readonly quotaFiles?: number;
  /** Maximum size of all files of all owners. Default 1,000,000,000. */
  readonly totalBytes?: number;
}
