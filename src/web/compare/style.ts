/** The style sheet of comparisons. Each kind of line has a sign as well as a colour. */
export const compareStyle = `.differences, .panel-changes { list-style: none; padding: 0; margin: 0.25rem 0 0; }
.differences { font-size: 0.875rem; }
.differences > li { padding: 0.2rem 0; }
.differences .path { font-weight: 600; }
.differences del, .differences ins { text-decoration: none; border-radius: 2px; padding: 0 0.15rem; }
.differences del { background: var(--bad-ground); }
.differences ins { background: var(--good-ground); }
.state.moved { color: var(--changed); }
.panel-entry { border-left: 3px solid var(--line); padding: 0 0 0.5rem 0.9rem; margin-bottom: 1rem; }
.panel-entry h3 { font-size: 1rem; margin: 0; }
.panel-entry p { margin: 0.1rem 0; }
.panel-entry.brief { display: flex; flex-wrap: wrap; gap: 0 1rem; align-items: baseline; margin-bottom: 0.2rem; padding-bottom: 0; }
.panel-entry:target { border-color: var(--link); background: var(--raised); }
.text-diff { font: 0.8125rem/1.45 ui-monospace, monospace; border: 1px solid var(--line); border-radius: 4px; margin: 0.3rem 0; overflow: auto; max-height: 32rem; }
.text-diff .stretch + .stretch { border-top: 2px dashed var(--line); }
.text-diff .line { display: block; white-space: pre-wrap; padding: 0 0.5rem 0 1.6rem; text-indent: -1.2rem; border-radius: 0; }
.text-diff .line-sign { display: inline-block; width: 1.2rem; text-indent: 0; user-select: none; }
.text-diff mark { color: inherit; background: none; font-weight: 700; text-decoration: underline 2px; }
.plain { list-style: none; margin: 0; padding: 0; }
`
