/**
 * The newest format of messages, runs and replies that this program reads. Raise it when an earlier program could
 * misunderstand them.
 */
export const ROW_FORMAT = 1;

/** The format that this program writes. Raise it one release after {@link ROW_FORMAT}, when all nodes can read it. */
export const WRITTEN_FORMAT = 1;
