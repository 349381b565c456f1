import { type ReactNode, useEffect, useRef, useState } from "react";

/** Renders TeX as MathML. Shows the TeX source until the renderer is loaded, and if the formula is invalid. */
export function Formula({ tex, isDisplay }: { tex: string; isDisplay: boolean }): ReactNode {
  const place = useRef<HTMLSpanElement>(null);
  const [isShown, setIsShown] = useState(false);
  useEffect(() => {
    let isGone = false;
    const show = async () => {
      const { default: temml } = await import("temml");
      if (isGone || place.current === null) return;
      // Without `trust`, a formula cannot create links, classes or ids.
      temml.render(tex, place.current, { displayMode: isDisplay, throwOnError: true, maxExpand: 200 });
      setIsShown(true);
    };
    show().catch(() => setIsShown(false));
    return () => {
      isGone = true;
    };
  }, [tex, isDisplay]);
  return (
    <span className={isDisplay ? "formula display" : "formula"}>
      <code hidden={isShown}>{tex}</code>
      <span ref={place} hidden={!isShown} />
    </span>
  );
}
