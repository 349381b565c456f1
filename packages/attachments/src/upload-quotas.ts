import { createHash } from "node:crypto";
import type { UploadAdded, UploadLimits } from "./upload-contract.ts";

const ID = /^[\w-]{16,64}$/;
/** Age from which an upload that no message needs is removed, in milliseconds. */
export const MAX_AGE_MS: number = 24 * 60 * 60 * 1000;

export type Quotas = Required<UploadLimits>;

export function resolveQuotas({
  maxBytes,
  quotaBytes = 100_000_000,
  quotaFiles = 100,
  totalBytes = 1_000_000_000,
}: UploadLimits): Quotas {
  return { maxBytes, quotaBytes, quotaFiles, totalBytes };
}

export function isUploadId(id: string): boolean {
  return ID.test(id);
}

/** @throws TypeError if `id` is not the id of an upload */
export function requireUploadId(id: string): void {
  if (!isUploadId(id)) throw new TypeError(`"${id}" is not the id of an upload`);
}

/** Returns the name of an owner's folder: 32 hexadecimal digits. */
export function getOwnerFolder(owner: string): string {
  return createHash("sha256").update(owner).digest("hex").slice(0, 32);
}

/** Uploads before a piece is added. All sizes are in bytes. */
interface StoredUploads {
  /** Size of the file. Absent if the piece is its first. */
  readonly existing: number | undefined;
  /** Sizes of the owner's files. */
  readonly sizes: readonly number[];
  /** Size of all files of all owners. */
  readonly stored: number;
}

/** Returns the reason why a piece cannot be added, if there is one. */
export function checkPiece(
  { at, size }: { readonly at: number; readonly size: number },
  { existing, sizes, stored }: StoredUploads,
  { maxBytes, quotaBytes, quotaFiles, totalBytes }: Quotas,
): UploadAdded | undefined {
  const bytes = existing ?? 0;
  if (at !== bytes) return { kind: "out_of_order", bytes };
  if (bytes + size > maxBytes) return { kind: "too_large", bytes };
  const used = sizes.reduce((sum, each) => sum + each, 0);
  const isTooMany = existing === undefined && sizes.length >= quotaFiles;
  const isFull = used + size > quotaBytes || stored + size > totalBytes;
  return isTooMany || isFull ? { kind: "full", bytes } : undefined;
}
