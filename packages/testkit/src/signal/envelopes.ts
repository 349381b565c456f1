import type { Raw } from "../raw.ts";

export interface SignalPerson {
  readonly uuid: string;
  readonly number?: string;
  readonly name?: string;
}

/** The sender of envelopes, unless another one is given. */
export const signalPerson: Required<SignalPerson> = {
  uuid: "11111111-aaaa-4aaa-8aaa-000000000001",
  number: "+4915100000001",
  name: "张三",
};

export interface SignalEnvelopeOptions {
  readonly from?: SignalPerson;
  /** Milliseconds since the epoch. It is also the id of the message. */
  readonly timestamp?: number;
  /** Id of the group in which the message is written. Default: a direct message. */
  readonly groupId?: string;
  /** Further fields of the message. */
  readonly fields?: Raw;
}

/** Returns the envelope of a text message. Source: `JsonMessageEnvelope` of signal-cli. */
export function textEnvelope(message: string, options: SignalEnvelopeOptions = {}): Raw {
  return dataEnvelope({ message, ...options.fields }, options);
}

/** Returns an envelope with a message of the given fields. */
export function dataEnvelope(fields: Raw, options: SignalEnvelopeOptions = {}): Raw {
  const { from = signalPerson, timestamp = Date.now() } = options;
  return {
    ...createSource(from, timestamp),
    dataMessage: createData(fields, { ...options, timestamp }),
  };
}

/** Returns the envelope of a message that was sent from another device of the account. */
export function syncEnvelope(message: string, self: SignalPerson, options: SignalEnvelopeOptions = {}): Raw {
  const { from: to = signalPerson, timestamp = Date.now(), groupId } = options;
  const destination =
    groupId === undefined
      ? { destination: to.number ?? to.uuid, destinationNumber: to.number ?? null, destinationUuid: to.uuid }
      : { destination: null, destinationNumber: null, destinationUuid: null };
  return {
    ...createSource(self, timestamp),
    syncMessage: {
      sentMessage: {
        ...destination,
        ...createData({ message, ...options.fields }, { ...options, timestamp }),
      },
    },
  };
}

function createSource({ uuid, number, name }: SignalPerson, timestamp: number): Raw {
  return {
    source: number ?? uuid,
    sourceNumber: number ?? null,
    sourceUuid: uuid,
    sourceName: name ?? "",
    sourceDevice: 1,
    timestamp,
    serverReceivedTimestamp: timestamp + 50,
    serverDeliveredTimestamp: timestamp + 60,
  };
}

function createData(fields: Raw, { timestamp, groupId }: SignalEnvelopeOptions): Raw {
  const groupInfo = { groupId, groupName: "Team", revision: 1, type: "DELIVER" };
  return {
    timestamp,
    message: null,
    expiresInSeconds: 0,
    isExpirationUpdate: false,
    viewOnce: false,
    groupInfo: groupId === undefined ? undefined : groupInfo,
    ...fields,
  };
}
