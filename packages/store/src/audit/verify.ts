import type { AuditHead, AuditLog } from "../types/audit.ts";
import { EMPTY_HEAD, linkHash } from "./chain.ts";

/** The result of a verification: intact, or the number of the first invalid entry and the reason. */
export type Verdict =
  | { readonly intact: true; readonly head: AuditHead }
  | { readonly intact: false; readonly seq: number; readonly reason: string };

/**
 * Verifies the whole chain.
 *
 * @param witnesses heads stored outside the log. Anyone who can write to the log can truncate or rewrite it together
 * with its head. Only a head that they cannot write reveals that.
 */
export async function verifyChain(
  log: Pick<AuditLog, "list" | "head">,
  witnesses: readonly AuditHead[] = [],
): Promise<Verdict> {
  const expected = new Map<number, string>();
  // Read the head first, so that entries appended during the verification are ignored.
  for (const { count, hash } of [await log.head(), ...witnesses]) {
    const other = expected.get(count);
    if (other !== undefined && other !== hash) return broken(count, "two noted heads differ");
    expected.set(count, hash);
  }
  const last = Math.max(...expected.keys());
  let head = EMPTY_HEAD;
  while (head.count < last) {
    const page = await log.list({ after: head.count });
    if (page.length === 0) return broken(head.count + 1, "the end of the chain is missing");
    for (const entry of page) {
      const seq = head.count + 1;
      if (entry.seq !== seq) return broken(seq, "the entry is missing");
      if (entry.hash !== linkHash(head, entry)) return broken(seq, "the entry was changed or moved");
      head = { count: seq, hash: entry.hash };
      if ((expected.get(seq) ?? head.hash) !== head.hash)
        return broken(seq, "the chain was rewritten: its hash differs from the noted one");
    }
  }
  return { intact: true, head };
}

function broken(seq: number, reason: string): Verdict {
  return { intact: false, seq, reason };
}
