import {
  type MediaKind,
  type MediaRef,
  normalizeLineEnds,
  objectAt,
  objectsAt,
  type Payload,
  textAt,
} from "@signalbox/channel";

/** The text and the attachments of a message. */
export interface Content {
  readonly text: string;
  readonly media: readonly MediaRef[];
}

const KINDS: Readonly<Record<string, MediaKind>> = {
  picture: "image",
  audio: "audio",
  video: "video",
  file: "file",
};

/** DingTalk names no types. The type in the response of a download replaces these. */
const MIME_TYPES: Readonly<Record<MediaKind, string>> = {
  image: "image/jpeg",
  audio: "audio/amr",
  video: "video/mp4",
  file: "application/octet-stream",
  sticker: "application/octet-stream",
};

/** Reads the content of a message, or of a quoted message. Source: DingTalk's page "Bot receives messages". */
export function readContent(type: string, content: Payload): Content {
  const { text, media } = read(type, content);
  return { text: normalizeLineEnds(text), media };
}

function read(type: string, content: Payload): Content {
  switch (type) {
    case "text":
      return { text: textAt(content, "content") ?? textAt(content, "text") ?? "", media: [] };
    case "markdown":
      return { text: textAt(content, "text") ?? "", media: [] };
    case "richText":
      return readRichText(objectsAt(content, "richText"));
    case "picture":
    case "video":
    case "file":
      return { text: "", media: readMedia(type, content) };
    case "audio":
      // DingTalk's transcript of a voice message.
      return { text: textAt(content, "recognition") ?? "", media: readMedia(type, content) };
    case "chatRecord":
      return { text: textAt(content, "summary") ?? "", media: [] };
    default:
      return { text: textAt(content, "text") ?? textAt(content, "title") ?? `[${type}]`, media: [] };
  }
}

function readRichText(parts: readonly Payload[]): Content {
  const texts = parts.map((part) => {
    const type = textAt(part, "type") ?? textAt(part, "msgType");
    if (type === "picture") return "";
    const name = textAt(part, "atName");
    if (type === "at") return name === undefined ? "" : `@${name}`;
    return textAt(part, "text") ?? textAt(part, "content") ?? "";
  });
  return { text: texts.join(""), media: parts.flatMap((part) => readMedia("picture", part)) };
}

function readMedia(type: string, content: Payload): readonly MediaRef[] {
  const downloadCode = textAt(content, "downloadCode") ?? textAt(content, "pictureDownloadCode");
  if (downloadCode === undefined) return [];
  const kind = KINDS[type] ?? "file";
  const name = textAt(content, "fileName");
  return [{ kind, mimeType: MIME_TYPES[kind], name, ref: { downloadCode } }];
}

/** Returns the object with the content of a message: `text` for a text, `content` for everything else. */
export function contentOf(message: Payload): Payload {
  return objectAt(message, message["msgtype"] === "text" ? "text" : "content");
}
