import {
  type MediaKind,
  type MediaRef,
  normalizeLineEnds,
  objectAt,
  objectsAt,
  type Payload,
  textAt,
} from "@signalbox/channel";

/** The text and attachments of a message or of a quoted message. */
export interface Content {
  readonly text: string;
  readonly media: readonly MediaRef[];
}

/** Message types with an attachment. */
const mediaTypes: Readonly<Record<string, MediaKind>> = { image: "image", file: "file", video: "video" };

/** Reads the content of a message. Source: document/path/100719. Unknown types have no content. */
export function readContent(message: Payload): Content {
  const type = textAt(message, "msgtype") ?? "";
  switch (type) {
    case "text":
    // WeCom transcribes voice messages and sends only the text.
    case "voice":
      return { text: readText(message, type), media: [] };
    case "mixed": {
      const items = objectsAt(objectAt(message, "mixed"), "msg_item").map(readContent);
      const texts = items.map(({ text }) => text).filter((text) => text !== "");
      return { text: texts.join("\n"), media: items.flatMap(({ media }) => media) };
    }
    default: {
      const kind = Object.hasOwn(mediaTypes, type) ? mediaTypes[type] : undefined;
      const media = kind && readMediaRef(kind, objectAt(message, type));
      return { text: "", media: media === undefined ? [] : [media] };
    }
  }
}

function readText(message: Payload, type: string): string {
  return normalizeLineEnds(textAt(objectAt(message, type), "content") ?? "");
}

function readMediaRef(kind: MediaKind, content: Payload): MediaRef | undefined {
  const url = textAt(content, "url");
  if (url === undefined) return undefined;
  const aesKey = textAt(content, "aeskey");
  return {
    kind,
    mimeType: "application/octet-stream",
    ref: aesKey === undefined ? { url } : { url, aesKey },
  };
}
