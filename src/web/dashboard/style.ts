/** The style sheet of drawings of dashboards. Colours come with a sign and a kind of line. */
export const dashboardStyle = `.dashboard,
.dashboard-legend {
  --panel-ground: #ffffff;
  --panel-fill: #f4f6f9;
  --panel-line: #7d8899;
  --panel-text: #1d2530;
  --panel-icon: #6a7687;
  --panel-added: #12692e;
  --panel-added-fill: #dff7e5;
  --panel-removed: #a4122b;
  --panel-removed-fill: #ffe9eb;
  --panel-moved: #1552a6;
  --panel-moved-fill: #e4effd;
  --panel-resized: #6a2fa0;
  --panel-resized-fill: #f2e8fc;
  --panel-changed: #7a4b00;
  --panel-changed-fill: #fff1d2;
}

.dashboard {
  display: block;
  inline-size: 100%;
  max-inline-size: 60rem;
  block-size: auto;
  border: 1px solid var(--panel-line);
  border-radius: 4px;
  background: var(--panel-ground);
  font-family: inherit;
}

.dashboard-pair {
  display: grid;
  grid-template-columns: repeat(auto-fit, minmax(min(100%, 26rem), 1fr));
  gap: 1rem;
  align-items: start;
}

.dashboard-side {
  margin: 0;
}

/* On a narrow screen a drawing scrolls in its frame, so that its titles can be read. */
.dashboard-scroll {
  overflow-x: auto;
  max-inline-size: 60rem;
}

.dashboard-scroll .dashboard {
  min-inline-size: 34rem;
}

.dashboard-side figcaption {
  margin-block-end: 0.35rem;
  font-weight: 600;
}

.dashboard-empty {
  fill: var(--panel-text);
  font-size: 14px;
  text-anchor: middle;
}

.dashboard-legend {
  display: flex;
  flex-wrap: wrap;
  gap: 0.4rem 0.6rem;
  margin: 0 0 0.8rem;
  padding: 0;
  list-style: none;
}

.panel {
  --panel-own: var(--panel-line);
  --panel-own-fill: var(--panel-fill);
  color: var(--panel-text);
}

.panel-frame {
  fill: var(--panel-own-fill);
  stroke: var(--panel-own);
  stroke-width: 1;
}

:where(.panel-changed, .panel-resized, .panel-moved, .panel-added, .panel-removed) .panel-frame {
  stroke-width: 2;
}

.panel-inner {
  fill: none;
  stroke: none;
}

.panel-title {
  fill: var(--panel-text);
  font-size: 12px;
}

.panel-sign {
  fill: var(--panel-own);
  color: var(--panel-own);
  font-weight: 700;
}

.panel-kind {
  fill: none;
  stroke: var(--panel-icon);
  stroke-width: 1.5;
  stroke-linecap: round;
  stroke-linejoin: round;
  opacity: 0.75;
}

.panel-missing {
  --panel-own-fill: var(--panel-ground);
}

.panel-missing .panel-frame {
  stroke-dasharray: 1 3;
}

.panel-missing .panel-title {
  font-style: italic;
}

/* A panel with several changes has the colour and the line of the last of these. */
.panel-changed {
  --panel-own: var(--panel-changed);
  --panel-own-fill: var(--panel-changed-fill);
}

.panel-resized {
  --panel-own: var(--panel-resized);
  --panel-own-fill: var(--panel-resized-fill);
}

.panel-moved {
  --panel-own: var(--panel-moved);
  --panel-own-fill: var(--panel-moved-fill);
}

.panel-added {
  --panel-own: var(--panel-added);
  --panel-own-fill: var(--panel-added-fill);
}

.panel-removed {
  --panel-own: var(--panel-removed);
  --panel-own-fill: var(--panel-removed-fill);
}

.panel-resized .panel-frame {
  stroke-dasharray: 12 3 2 3;
}

.panel-moved .panel-frame {
  stroke-dasharray: none;
}

.panel-removed .panel-frame {
  stroke-dasharray: 6 4;
}

/* Changed inside: a second line within the frame. */
.panel-changed .panel-inner {
  stroke: var(--panel-changed);
  stroke-width: 1;
}

.panel-key {
  padding: 0.1rem 0.6rem;
  border: 2px solid var(--panel-own);
  border-radius: 4px;
  background: var(--panel-own-fill);
  color: var(--panel-text);
}

.panel-key.panel-removed {
  border-style: dashed;
}

.panel-key.panel-resized {
  border-style: dotted;
}

.panel-key.panel-changed {
  border-style: double;
  border-width: 4px;
}

.panel:is(:hover, :focus-visible, :target, .panel-highlighted) .panel-frame {
  stroke-width: 5;
}

.panel:focus-visible {
  outline: 2px solid var(--panel-text);
  outline-offset: 1px;
}

@media screen and (prefers-color-scheme: dark) {
  .dashboard,
  .dashboard-legend {
    --panel-ground: #12161c;
    --panel-fill: #1e252e;
    --panel-line: #7e8a9a;
    --panel-text: #e8edf3;
    --panel-icon: #a3afbf;
    --panel-added: #6bd98a;
    --panel-added-fill: #10301b;
    --panel-removed: #ff919d;
    --panel-removed-fill: #3d141b;
    --panel-moved: #85b8ff;
    --panel-moved-fill: #12294a;
    --panel-resized: #cfa2f7;
    --panel-resized-fill: #2e1b43;
    --panel-changed: #f3bd57;
    --panel-changed-fill: #382806;
  }
}

@media (forced-colors: active) {
  .panel-frame {
    fill: Canvas;
    stroke: CanvasText;
  }

  .panel-title,
  .panel-sign {
    fill: CanvasText;
  }
}

@media print {
  .dashboard-side {
    break-inside: avoid;
  }

  .panel-frame {
    print-color-adjust: exact;
  }
}
`
