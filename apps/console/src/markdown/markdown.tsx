import { getSource, type MarkdownDocument } from "@signalbox/channel/markdown";
import type { Definition, List, ListItem, Nodes, RootContent, Table } from "mdast";
import { createContext, Fragment, memo, type ReactNode, useContext, useRef } from "react";
import { CodeBlock } from "../parts/code-block.tsx";
import { ColoredCode } from "./colored-code.tsx";
import { Formula } from "./formula.tsx";
import "./markdown.css";
import { type Sections, sectionsOf } from "./sections.ts";

/** Renders Markdown as React elements. The text never becomes HTML, an attribute or a request. */
export const Markdown = memo(function Markdown({ text }: { text: string }): ReactNode {
  const sections = useRef<Sections>([]);
  sections.current = sectionsOf(text, sections.current);
  return (
    <div className="markdown">
      {sections.current.map((document, place) => (
        <Section key={String(place)} document={document} />
      ))}
    </div>
  );
});

/** Definitions that the nodes of a document refer to. */
interface References {
  readonly source: string;
  readonly definitions: ReadonlyMap<string, Definition>;
}

const Referred = createContext<References>({ source: "", definitions: new Map() });

const Section = memo(function Section({ document }: { document: MarkdownDocument }): ReactNode {
  const { source, root } = document;
  const definitions = root.children.filter((node) => node.type === "definition");
  const references = { source, definitions: new Map(definitions.map((each) => [each.identifier, each])) };
  return (
    <Referred value={references}>
      <Each nodes={root.children} />
    </Referred>
  );
});

// Nodes have no ids. Their index is a stable key, because streaming only appends nodes.
function Each({ nodes }: { nodes: readonly Nodes[] }): ReactNode {
  return nodes.map((node, place) => (
    <Fragment key={String(place)}>
      <Show node={node} />
    </Fragment>
  ));
}

function Show({ node }: { node: Nodes }): ReactNode {
  switch (node.type) {
    case "text":
    case "html":
      return withBreaks(node.value);
    case "paragraph":
      return (
        <p>
          <Each nodes={node.children} />
        </p>
      );
    case "heading": {
      // The page itself uses the first and second level.
      const Level = (["h3", "h4", "h5"] as const)[node.depth - 1] ?? "h6";
      return (
        <Level>
          <Each nodes={node.children} />
        </Level>
      );
    }
    case "code":
      return (
        <CodeBlock text={node.value} label={node.lang ?? ""}>
          <ColoredCode text={node.value} language={node.lang ?? ""} />
        </CodeBlock>
      );
    case "blockquote":
      return (
        <blockquote>
          <Each nodes={node.children} />
        </blockquote>
      );
    case "thematicBreak":
      return <hr />;
    case "list":
      return <ListOf list={node} />;
    case "table":
      return <TableOf table={node} />;
    case "inlineCode":
      return node.data?.formula === undefined ? (
        <code>{node.value}</code>
      ) : (
        <Formula tex={node.value} isDisplay={node.data.formula === "display"} />
      );
    case "strong":
      return (
        <strong>
          <Each nodes={node.children} />
        </strong>
      );
    case "emphasis":
      return (
        <em>
          <Each nodes={node.children} />
        </em>
      );
    case "delete":
      return (
        <del>
          <Each nodes={node.children} />
        </del>
      );
    case "break":
      return <br />;
    case "link":
      return <LinkTo url={node.url} node={node} label={node.children} />;
    case "image":
      // Images are links, so that the page never loads anything from another host.
      return <LinkTo url={node.url} node={node} label={[{ type: "text", value: node.alt || node.url }]} />;
    case "linkReference":
      return <Reference identifier={node.identifier} node={node} label={node.children} />;
    case "imageReference":
      return (
        <Reference
          identifier={node.identifier}
          node={node}
          label={[{ type: "text", value: node.alt || node.identifier }]}
        />
      );
    case "footnoteReference":
      return <sup>{node.label ?? node.identifier}</sup>;
    case "footnoteDefinition":
      return (
        <div className="footnote">
          <sup>{node.label ?? node.identifier}</sup>
          <Each nodes={node.children} />
        </div>
      );
    default:
      return null;
  }
}

/** Renders single line breaks, which people and models expect to see. */
function withBreaks(text: string): ReactNode {
  return text.split("\n").map((line, place) => (
    <Fragment key={String(place)}>
      {place > 0 && <br />}
      {line}
    </Fragment>
  ));
}

function ListOf({ list }: { list: List }): ReactNode {
  const items = list.children.map((item, place) => <Item key={String(place)} item={item} />);
  return list.ordered ? <ol start={list.start ?? 1}>{items}</ol> : <ul>{items}</ul>;
}

/** Renders the only paragraph of a list item without margins. */
function Item({ item }: { item: ListItem }): ReactNode {
  const [first, ...rest] = item.children;
  const isTask = typeof item.checked === "boolean";
  return (
    <li {...(isTask ? { className: "task" } : {})}>
      {isTask && <input type="checkbox" checked={item.checked === true} disabled />}
      {first?.type === "paragraph" ? <Each nodes={first.children} /> : <Each nodes={item.children} />}
      {first?.type === "paragraph" && <Each nodes={rest} />}
    </li>
  );
}

function TableOf({ table }: { table: Table }): ReactNode {
  const [head, ...rows] = table.children;
  const alignment = (column: number): { className?: "left" | "center" | "right" } => {
    const align = table.align?.[column];
    return align == null ? {} : { className: align };
  };
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scroll area must be reachable by keyboard
    <div className="table" tabIndex={0}>
      <table>
        <thead>
          <tr>
            {head?.children.map((cell, column) => (
              <th key={String(column)} {...alignment(column)}>
                <Each nodes={cell.children} />
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, place) => (
            <tr key={String(place)}>
              {row.children.map((cell, column) => (
                <td key={String(column)} {...alignment(column)}>
                  <Each nodes={cell.children} />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

interface LinkProps {
  readonly node: Nodes;
  readonly label: readonly RootContent[];
}

function Reference({ identifier, node, label }: LinkProps & { identifier: string }): ReactNode {
  const { definitions } = useContext(Referred);
  return <LinkTo url={definitions.get(identifier)?.url ?? ""} node={node} label={label} />;
}

/** Renders a web link, followed by its host if the label does not show it. Other links are plain text. */
function LinkTo({ url, node, label }: LinkProps & { url: string }): ReactNode {
  const { source } = useContext(Referred);
  const target = webAddress(url);
  if (target === undefined) return getSource(source, node);
  const named = hostNamed(textOf(label).trim());
  return (
    <>
      <a href={target.href} title={target.href} target="_blank" rel="noopener noreferrer">
        <Each nodes={label} />
      </a>
      {named !== target.host && (
        <span className={named === undefined ? "host" : "host other"}> ({target.host})</span>
      )}
    </>
  );
}

/** Parses an absolute `http:` or `https:` URL. */
function webAddress(text: string): URL | undefined {
  const url = URL.parse(text);
  return url !== null && (url.protocol === "https:" || url.protocol === "http:") ? url : undefined;
}

/** Returns the host that a label names. */
function hostNamed(label: string): string | undefined {
  const isHost = /^[\w-]+(\.[\w-]+)+(\/|$)/.test(label);
  return webAddress(isHost ? `https://${label}` : label)?.host;
}

function textOf(nodes: readonly Nodes[]): string {
  return nodes
    .map((node) => ("value" in node ? node.value : "children" in node ? textOf(node.children) : " "))
    .join("");
}
