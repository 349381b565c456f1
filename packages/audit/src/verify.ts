import { type AuditHead, EMPTY_HEAD, linkHash } from "./chain.ts";
import type { AuditLog } from "./log.ts";

/** What is wrong with a chain, and from which record on; or that nothing is. */
export type Verdict =
  | { readonly intact: true; readonly head: AuditHead }
  | { readonly intact: false; readonly seq: number; readonly reason: string };

/**
 * Checks the whole chain. `witnesses` are heads that were noted elsewhere: a writer of the log can cut its end off, or
 * rewrite all of it, but not what was noted where they cannot write.
 */
export async function verifyChain(
  log: Pick<AuditLog, "list" | "head">,
  witnesses: readonly AuditHead[] = [],
): Promise<Verdict> {
  const expected = new Map<number, string>();
  // What is appended meanwhile lies behind the head that is read first.
  for (const { count, hash } of [await log.head(), ...witnesses]) {
    const other = expected.get(count);
    if (other !== undefined && other !== hash) return broken(count, "two heads that were noted differ");
    expected.set(count, hash);
  }
  const last = Math.max(...expected.keys());
  let head = EMPTY_HEAD;
  while (head.count < last) {
    const page = await log.list({ after: head.count });
    if (page.length === 0) return broken(head.count + 1, "the end of the chain is missing");
    for (const record of page) {
      const seq = head.count + 1;
      if (record.seq !== seq) return broken(seq, "the record is missing");
      if (record.hash !== linkHash(head, record)) return broken(seq, "the record was changed or moved");
      head = { count: seq, hash: record.hash };
      if ((expected.get(seq) ?? head.hash) !== head.hash)
        return broken(seq, "the chain was written anew: its hash is not the one that was noted");
    }
  }
  return { intact: true, head };
}

function broken(seq: number, reason: string): Verdict {
  return { intact: false, seq, reason };
}
