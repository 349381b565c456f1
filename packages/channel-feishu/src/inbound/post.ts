import { isPayload, type Payload, textAt } from "@signalbox/channel";

/** An image or video in a rich text. */
export interface PostMedia {
  readonly kind: "image" | "video";
  readonly key: string;
}

/** Preferred languages for rich text in several versions. */
const languages = ["zh_cn", "en_us", "ja_jp", "zh_hk", "zh_tw"];

/**
 * Converts rich text to Markdown, with the keys of mentions. Source: the open platform's page on message content,
 * "post".
 */
export function readPost(
  content: Payload,
): { readonly text: string; readonly media: readonly PostMedia[] } | undefined {
  const post = inOneLanguage(content);
  const rows = post?.["content"];
  if (post === undefined || !Array.isArray(rows)) return undefined;
  const media: PostMedia[] = [];
  const lines = rows.map((row: unknown) =>
    (Array.isArray(row) ? row : [row])
      .filter(isPayload)
      .map((element) => readElement(element, media))
      .join(""),
  );
  const title = textAt(post, "title");
  return { text: [...(title === undefined ? [] : [`**${title}**`, ""]), ...lines].join("\n").trim(), media };
}

function inOneLanguage(content: Payload): Payload | undefined {
  if (Array.isArray(content["content"])) return content;
  const name =
    languages.find((one) => isPayload(content[one])) ??
    Object.keys(content).find((one) => isPayload(content[one]));
  const post = name === undefined ? undefined : content[name];
  return isPayload(post) ? post : undefined;
}

function readElement(element: Payload, media: PostMedia[]): string {
  const text = textAt(element, "text") ?? "";
  switch (element["tag"]) {
    case "text":
      return styled(text, element["style"]);
    case "a": {
      const href = textAt(element, "href");
      return href === undefined || href === text ? text : styled(`[${text}](${href})`, element["style"]);
    }
    case "at":
      return readAt(element);
    case "img":
      return keep(media, "image", textAt(element, "image_key"));
    case "media":
      return keep(media, "video", textAt(element, "file_key"));
    case "emotion":
      return `:${textAt(element, "emoji_type") ?? "emoji"}:`;
    case "code_block":
      return `\`\`\`${textAt(element, "language")?.toLowerCase() ?? ""}\n${text.replace(/\n$/, "")}\n\`\`\``;
    case "hr":
      return "\n---\n";
    default:
      return text;
  }
}

function readAt(element: Payload): string {
  const id = textAt(element, "user_id") ?? "";
  if (id === "all" || id === "@_all") return "@_all";
  return id.startsWith("@_user_") ? id : `@${textAt(element, "user_name") ?? id}`;
}

function keep(media: PostMedia[], kind: PostMedia["kind"], key: string | undefined): string {
  if (key !== undefined) media.push({ kind, key });
  return `[${kind}]`;
}

function styled(text: string, style: unknown): string {
  const words = text.trim();
  if (!Array.isArray(style) || words === "") return text;
  const before = text.slice(0, text.indexOf(words));
  const after = text.slice(before.length + words.length);
  let marked = words;
  if (style.includes("lineThrough")) marked = `~~${marked}~~`;
  if (style.includes("italic")) marked = `*${marked}*`;
  if (style.includes("bold")) marked = `**${marked}**`;
  return before + marked + after;
}
