import type { InputBlock, TextBlock } from "../content.ts";
import { estimateTokens, MEDIA_TOKENS, sumOf } from "../tokens.ts";
import { type Keep, truncateText, WINDOW_SHARE } from "./truncate.ts";

type Content = readonly InputBlock[];

/** How many parts a result may have. With more, the texts are joined, because each part also costs its wrapping. */
const MAX_PARTS = 64;
/** Media may have this part of what a result may take, however long its texts are. */
const MEDIA_SHARE = 0.5;
/** What the note about missing media takes, at most. */
const NOTE_TOKENS = 32;

/**
 * Cuts the texts of a result to `max` characters in all, the longest first. With more than 64 parts, neighbouring texts
 * are joined; if not even a character remains for each, all are. Media stays. Returns the same array if nothing is too
 * long and there are no more parts than that. Takes time proportional to the content.
 */
export function truncateContent(content: Content, max: number, keep: Keep = "auto"): Content {
  const parts = content.length > MAX_PARTS ? joinNeighbours(content) : content;
  const texts = parts.filter(isText);
  if (sumOf(texts, ({ text }) => text.length) <= max) return parts;
  if (texts.length > MAX_PARTS || texts.length > max) {
    return [cutBlock(texts, max, keep), ...parts.filter((block) => !isText(block))];
  }
  const each = share(texts, max);
  return parts.map((block) =>
    isText(block) && block.text.length > each ? cutBlock([block], each, keep) : block,
  );
}

/**
 * As `truncateContent`, and to at most 30 % of a window of so many tokens: a character of Chinese or Japanese
 * takes about as many tokens as four of English, and every image, sound or file is taken for 1,600 tokens. The first
 * media stay, as many as the texts leave room for, and as half the share holds in any case; a note says what is
 * missing.
 */
export function truncateResult(content: Content, max: number, window: number, keep: Keep = "auto"): Content {
  const most = Math.max(1, Math.floor(window * WINDOW_SHARE));
  const cut = fitTexts(content, max, most, keep);
  const media = cut.filter((block) => !isText(block)).length;
  if (media === 0) return cut;
  const tokens = tokensOf(cut);
  const fit = mediaRoom(tokens, most) >= media;
  const kept = fit ? media : Math.min(media, mediaRoom(tokens + NOTE_TOKENS, most - NOTE_TOKENS));
  const rest = kept === media ? content : withoutMediaFrom(content, kept, media - kept);
  return fitTexts(rest, max, Math.max(1, most - kept * MEDIA_TOKENS), keep);
}

function mediaRoom(textTokens: number, most: number): number {
  const room = Math.floor(Math.max(most - textTokens, most * MEDIA_SHARE) / MEDIA_TOKENS);
  return room === 0 && MEDIA_TOKENS < most ? 1 : room;
}

function withoutMediaFrom(content: Content, kept: number, missing: number): InputBlock[] {
  let left = kept;
  const rest = content.filter((block) => isText(block) || left-- > 0);
  const what =
    missing === 1 ? "One image or file was" : `${missing.toLocaleString("en-US")} images or files were`;
  rest.push({ type: "text", text: `[${what} left out: too much for one result. Ask for fewer.]` });
  return rest;
}

/** Cuts the texts to `max` characters and `most` tokens together. */
function fitTexts(content: Content, max: number, most: number, keep: Keep): Content {
  let cut = truncateContent(content, max, keep);
  let chars = sumOf(cut.filter(isText), ({ text }) => text.length);
  // No character takes more than a token. What stays may be denser than what goes, so the first guess need not do.
  while (chars > most) {
    const tokens = tokensOf(cut);
    if (tokens <= most) break;
    chars = Math.max(1, Math.floor(chars * Math.min(0.9, most / tokens)));
    cut = truncateContent(content, chars, keep);
  }
  return cut;
}

function isText(block: InputBlock): block is TextBlock {
  return block.type === "text";
}

function cutBlock(blocks: readonly TextBlock[], max: number, keep: Keep): TextBlock {
  const text = blocks.map((block) => block.text).join("\n");
  return { type: "text", text: truncateText(text, max, keep) };
}

function joinNeighbours(content: Content): Content {
  const joined: InputBlock[] = [];
  for (const block of content.filter((part) => !isText(part) || part.text !== "")) {
    const last = joined.at(-1);
    if (!isText(block) || last === undefined || !isText(last)) joined.push(block);
    else joined[joined.length - 1] = { type: "text", text: `${last.text}\n${block.text}` };
  }
  // A result has something in it.
  return joined.length === 0 ? content.slice(0, 1) : joined;
}

function tokensOf(content: Content): number {
  return sumOf(content.filter(isText), ({ text }) => estimateTokens(text));
}

/** The most each may have so that all have room: what short ones leave goes to the long ones. */
function share(texts: readonly TextBlock[], max: number): number {
  let left = max;
  for (const [at, { text }] of texts.toSorted((a, b) => a.text.length - b.text.length).entries()) {
    const each = Math.floor(left / (texts.length - at));
    if (text.length > each) return Math.max(1, each);
    left -= text.length;
  }
  return max;
}
