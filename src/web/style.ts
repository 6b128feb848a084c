/** The style sheet of all pages. A module, so that the bundle contains it. */
export const style = `:root {
  color-scheme: light dark;
  --ground: #ffffff; --raised: #f6f7f9; --line: #d5dae1; --text: #1b1f24; --muted: #59636e;
  --link: #0b57b0; --good: #12652f; --warn: #7a4b00; --bad: #a40e26; --changed: #0b57b0;
  --good-ground: #e3f4e8; --warn-ground: #fdf0d5; --bad-ground: #fde8ea; --changed-ground: #dfecfb;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ground: #14171b; --raised: #1d2127; --line: #3a424d; --text: #e6e9ee; --muted: #a3adba;
    --link: #7db7ff; --good: #6fd08c; --warn: #f0b85a; --bad: #ff8f9b; --changed: #7db7ff;
    --good-ground: #16301f; --warn-ground: #3a2b0d; --bad-ground: #401a20; --changed-ground: #172d4a;
  }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--ground); color: var(--text); font: 1rem/1.5 system-ui, sans-serif; overflow-wrap: anywhere; }
a { color: var(--link); }
:focus-visible { outline: 3px solid var(--link); outline-offset: 2px; }
main:focus { outline: none; }
h1 { font-size: 1.6rem; line-height: 1.25; margin: 0.5rem 0 1rem; }
h2 { font-size: 1.15rem; margin: 2rem 0 0.75rem; }
code, pre { font-family: ui-monospace, monospace; font-size: 0.875rem; }
.skip { position: absolute; left: -100vw; }
.skip:focus { left: 0.5rem; top: 0.5rem; background: var(--ground); padding: 0.5rem; z-index: 1; }
.hidden { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
.top { display: flex; flex-wrap: wrap; align-items: center; gap: 0.5rem 1.25rem; padding: 0.6rem clamp(1rem, 3vw, 3rem); border-bottom: 1px solid var(--line); background: var(--raised); }
.brand { font-weight: 700; color: var(--text); text-decoration: none; }
.badge { margin-left: auto; border: 1px solid var(--line); border-radius: 1rem; padding: 0 0.75rem; color: var(--muted); font-size: 0.875rem; }
main { max-width: 110rem; margin: 0 auto; padding: 1rem clamp(1rem, 3vw, 3rem) 3rem; }
.crumbs ol { display: flex; flex-wrap: wrap; gap: 0 0.5rem; list-style: none; margin: 0; padding: 0; font-size: 0.9rem; }
.crumbs li + li::before { content: "/"; color: var(--muted); margin-right: 0.5rem; }
.notice { border-left: 4px solid var(--line); background: var(--raised); padding: 0.6rem 1rem; margin: 1rem 0; max-width: 60rem; }
.notice.good { border-color: var(--good); }
.notice.suspect { border-color: var(--warn); }
.notice.damaged { border-color: var(--bad); }
.hint, .age, .id { color: var(--muted); font-size: 0.875rem; }
.id { display: block; font-weight: 400; }
.facts { display: flex; flex-wrap: wrap; gap: 0.75rem 2.5rem; margin: 0 0 1.5rem; }
.facts dt { color: var(--muted); font-size: 0.85rem; }
.facts dd { margin: 0; }
.state { white-space: nowrap; font-weight: 600; }
.state.good, .state.added { color: var(--good); }
.state.stale, .state.suspect, .state.from-future { color: var(--warn); }
.state.damaged, .state.missing, .state.removed { color: var(--bad); }
.state.changed { color: var(--changed); }
.state.unchanged { color: var(--muted); }
.reasons, .diff { margin: 0.25rem 0 0; padding-left: 1.1rem; font-size: 0.9rem; }
.diff { font-family: ui-monospace, monospace; font-size: 0.8rem; list-style: none; padding: 0; }
.pin { border: 1px solid var(--line); border-radius: 0.5rem; padding: 0 0.4rem; font-size: 0.8rem; font-weight: 400; }
.sparkline { color: var(--link); display: block; }
table.data { border-collapse: collapse; width: 100%; }
table.data caption { text-align: left; color: var(--muted); font-size: 0.9rem; padding-bottom: 0.4rem; }
table.data th, table.data td { text-align: left; vertical-align: top; padding: 0.5rem 0.9rem 0.5rem 0; border-bottom: 1px solid var(--line); }
table.data thead th { font-size: 0.875rem; white-space: nowrap; }
table.data tbody th { font-weight: 600; min-width: 10rem; }
.age { white-space: nowrap; }
table.data .number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
table.data tbody tr:hover { background: var(--raised); }
.calendar { display: grid; grid-template-columns: repeat(auto-fill, minmax(13.5rem, 17rem)); gap: 1.25rem; max-width: 90rem; }
table.month { border-collapse: separate; border-spacing: 2px; table-layout: fixed; width: 100%; align-self: start; }
table.month caption { text-align: left; font-weight: 600; font-size: 0.9rem; }
table.month th { font-size: 0.7rem; font-weight: 400; color: var(--muted); }
table.month abbr { text-decoration: none; }
table.month td { padding: 0; }
.day { display: block; text-align: center; font-size: 0.75rem; line-height: 1.15; min-height: 2rem; padding-top: 0.15rem; color: var(--muted); border-radius: 3px; }
a.day { text-decoration: none; font-weight: 600; border: 1px solid currentColor; }
a.day .sign { display: block; }
a.day.unchanged { background: var(--good-ground); color: var(--good); }
a.day.changed { background: var(--changed-ground); color: var(--changed); }
a.day.suspect { background: var(--warn-ground); color: var(--warn); }
a.day.damaged { background: var(--bad-ground); color: var(--bad); }
.legend { display: flex; flex-wrap: wrap; gap: 0.25rem 1.25rem; font-size: 0.9rem; }
.pages, .actions { display: flex; flex-wrap: wrap; gap: 0.5rem 1.25rem; list-style: none; padding: 0; margin: 1rem 0; }
.pages [aria-current] { font-weight: 700; color: var(--text); text-decoration: none; }
.search { display: flex; flex-wrap: wrap; align-items: end; gap: 0.75rem 1.25rem; margin-bottom: 1rem; }
.search label { display: block; font-size: 0.875rem; }
.search input[type=search], .search select { display: block; font: inherit; padding: 0.35rem 0.5rem; border: 1px solid var(--muted); border-radius: 4px; background: var(--ground); color: var(--text); max-width: 100%; }
.search input[type=search] { width: 22rem; }
.search .check { padding-bottom: 0.45rem; }
button { font: inherit; padding: 0.35rem 1rem; border: 1px solid var(--link); border-radius: 4px; background: var(--link); color: var(--ground); cursor: pointer; }
.relations { display: grid; grid-template-columns: repeat(auto-fit, minmax(16rem, 1fr)); gap: 0 2rem; }
.relations ul { padding-left: 1.1rem; margin: 0; }
.relations p { margin: 0; color: var(--muted); }
pre { background: var(--raised); border: 1px solid var(--line); border-radius: 4px; padding: 0.75rem; margin: 0; overflow: auto; }
pre.json { max-height: 80vh; overflow-wrap: normal; }
.command { margin-top: 2.5rem; }
.command h2 { font-size: 0.9rem; color: var(--muted); margin-bottom: 0.4rem; }
.command pre { white-space: pre-wrap; user-select: all; }
@media (max-width: 44rem) {
  table.data thead { position: absolute; clip-path: inset(50%); width: 1px; height: 1px; overflow: hidden; }
  table.data, table.data tbody, table.data tr, table.data th, table.data td, table.data caption { display: block; }
  table.data tr { border: 1px solid var(--line); border-radius: 6px; padding: 0.6rem 0.8rem; margin-bottom: 0.75rem; }
  table.data tbody th, table.data td { border: 0; padding: 0.15rem 0; }
  table.data td.number { text-align: left; white-space: normal; }
  table.data td::before { content: attr(data-label) ": "; color: var(--muted); font-size: 0.85rem; }
  table.data td.empty { display: none; }
  .sparkline { display: inline-block; vertical-align: middle; }
  .search input[type=search] { width: 100%; }
  .search label { width: 100%; }
}
@media print {
  .skip, .top nav, .search, .pages, .actions { display: none; }
  pre.json { max-height: none; white-space: pre-wrap; }
  body { background: #ffffff; color: #000000; }
}
`
