/** The style sheet of all pages. A module, so that the bundle contains it. */
export const style = `:root {
  color-scheme: light dark;
  --ground: #ffffff; --raised: #f5f7fa; --line: #d5dbe3; --text: #1a2029; --muted: #566070;
  --link: #0b57b0; --good: #12652f; --warn: #7a4b00; --bad: #a40e26; --changed: #0b57b0;
  --good-ground: #e3f4e8; --warn-ground: #fdf0d5; --bad-ground: #fde8ea; --changed-ground: #e0ecfb;
}
@media screen and (prefers-color-scheme: dark) {
  :root {
    --ground: #12161c; --raised: #1b2129; --line: #39424f; --text: #e6eaf0; --muted: #a5b0be;
    --link: #80b9ff; --good: #74d391; --warn: #f0bd66; --bad: #ff939f; --changed: #80b9ff;
    --good-ground: #15301f; --warn-ground: #38290c; --bad-ground: #401a20; --changed-ground: #162d4b;
  }
}
* { box-sizing: border-box; }
fieldset { min-width: 0; }
html { scroll-padding: 3.5rem 0 6rem; }
body { margin: 0; min-height: 100vh; display: flex; flex-direction: column; background: var(--ground); color: var(--text); font: 1rem/1.5 system-ui, sans-serif; overflow-wrap: anywhere; }
[hidden] { display: none !important; }
a { color: var(--link); text-underline-offset: 0.15em; text-decoration-thickness: 1px; }
a:hover { text-decoration-thickness: 2px; }
:focus-visible { outline: 3px solid var(--link); outline-offset: 2px; border-radius: 2px; }
main:focus { outline: none; }
h1 { font-size: 1.7rem; line-height: 1.25; letter-spacing: -0.01em; margin: 0.4rem 0 1.1rem; }
h2 { font-size: 1.15rem; margin: 2.25rem 0 0.75rem; }
code, pre, kbd { font-family: ui-monospace, monospace; font-size: 0.875rem; }
.skip { position: absolute; left: -100vw; }
.skip:focus { left: 0.5rem; top: 0.5rem; background: var(--ground); padding: 0.5rem; z-index: 2; }
.hidden { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
.top { display: flex; flex-wrap: wrap; align-items: center; gap: 0.4rem 1.5rem; padding: 0.6rem clamp(1rem, 3vw, 3rem); border-bottom: 1px solid var(--line); background: var(--raised); }
.top nav { display: flex; flex-wrap: wrap; gap: 0.25rem 1.25rem; }
.top nav a { text-decoration: none; }
.top nav a:hover, .top nav [aria-current] { text-decoration: underline; text-decoration-thickness: 2px; text-underline-offset: 0.4em; }
.top nav [aria-current] { color: var(--text); font-weight: 600; }
.brand { display: flex; align-items: center; gap: 0.5rem; font-weight: 700; color: var(--text); text-decoration: none; }
.brand svg { fill: var(--link); }
.badge { margin-left: auto; border: 1px solid var(--line); border-radius: 1rem; padding: 0 0.75rem; background: var(--ground); color: var(--muted); font-size: 0.875rem; }
main { width: 100%; max-width: 110rem; margin: 0 auto; padding: 1rem clamp(1rem, 3vw, 3rem) 2rem; flex: 1; }
.foot { display: flex; flex-wrap: wrap; align-items: center; justify-content: space-between; gap: 0.5rem 1.5rem; padding: 0.6rem clamp(1rem, 3vw, 3rem); border-top: 1px solid var(--line); color: var(--muted); font-size: 0.875rem; }
.foot p { margin: 0; }
.crumbs ol { display: flex; flex-wrap: wrap; gap: 0 0.5rem; list-style: none; margin: 0; padding: 0; font-size: 0.9rem; }
.crumbs li + li::before { content: "/"; color: var(--muted); margin-right: 0.5rem; }
.notice { border: 1px solid var(--line); border-left-width: 5px; border-radius: 6px; background: var(--raised); padding: 0.7rem 1rem; margin: 1rem 0; max-width: 70rem; }
.notice > :first-child { margin-top: 0; }
.notice > :last-child { margin-bottom: 0; }
.notice.good { border-color: var(--good); background: var(--good-ground); }
.notice.suspect { border-color: var(--warn); background: var(--warn-ground); }
.notice.damaged { border-color: var(--bad); background: var(--bad-ground); }
.hint, .age, .id { color: var(--muted); font-size: 0.875rem; }
.id { display: block; font-weight: 400; }
.facts { display: flex; flex-wrap: wrap; gap: 0.75rem 2.5rem; margin: 0 0 1.25rem; padding: 0.8rem 1.1rem; border: 1px solid var(--line); border-radius: 8px; background: var(--raised); }
.facts dt { color: var(--muted); font-size: 0.85rem; }
.facts dd { margin: 0; }
.state { display: inline-block; border: 1px solid var(--line); border-radius: 1rem; padding: 0 0.6rem; font-weight: 600; font-size: 0.925rem; background: var(--ground); color: var(--muted); }
.state:is(.good, .added, .stale, .suspect, .from-future, .unproven, .damaged, .missing, .removed, .changed, .running, .behind) { border-color: transparent; }
.state.good, .state.added { background: var(--good-ground); color: var(--good); }
.state.stale, .state.suspect, .state.from-future, .state.unproven { background: var(--warn-ground); color: var(--warn); }
.state.damaged, .state.missing, .state.removed { background: var(--bad-ground); color: var(--bad); }
.state:is(.changed, .running, .behind) { background: var(--changed-ground); color: var(--changed); }
.reasons, .diff { margin: 0.25rem 0 0; padding-left: 1.1rem; font-size: 0.9rem; }
.diff { font-family: ui-monospace, monospace; font-size: 0.8rem; list-style: none; padding: 0; }
.pin { border: 1px solid var(--line); border-radius: 1rem; padding: 0 0.5rem; font-size: 0.8rem; font-weight: 400; white-space: nowrap; }
.sparkline { color: var(--link); display: block; max-width: 100%; }
table.data { border-collapse: separate; border-spacing: 0; width: 100%; }
table.data + table.data { margin-top: 1.75rem; }
table.data caption { text-align: left; color: var(--muted); font-size: 0.9rem; padding-bottom: 0.4rem; }
table.data th, table.data td { text-align: left; vertical-align: top; padding: 0.5rem 0.9rem 0.5rem 0; border-bottom: 1px solid var(--line); }
table.data :is(th, td):first-child { padding-left: 0.6rem; }
table.data .number + :not(.number) { padding-left: 1rem; }
table.data thead th { position: sticky; top: 0; background: var(--ground); border-bottom-width: 2px; font-size: 0.85rem; color: var(--muted); white-space: nowrap; }
table.data thead a { color: inherit; }
table.data tbody th { font-weight: 600; min-width: 10rem; }
table.data .number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
table.data tbody tr:is(:hover, :focus-within) { background: var(--raised); }
.calendar { display: grid; grid-template-columns: repeat(auto-fill, minmax(13.5rem, 1fr)); gap: 1.5rem; }
table.month { border-collapse: separate; border-spacing: 2px; table-layout: fixed; width: 100%; align-self: start; }
table.month caption { text-align: left; font-weight: 600; font-size: 0.9rem; }
table.month th { font-size: 0.7rem; font-weight: 400; color: var(--muted); }
table.month abbr { text-decoration: none; }
table.month td { padding: 0; }
.day { display: block; text-align: center; font-size: 0.75rem; line-height: 1.15; min-height: 2rem; padding-top: 0.15rem; color: var(--muted); border-radius: 4px; }
a.day { text-decoration: none; font-weight: 600; border: 1px solid currentColor; }
a.day:hover { outline: 2px solid currentColor; }
a.day .sign { display: block; }
a.day.unchanged { background: var(--raised); color: var(--muted); border-color: var(--line); }
a.day.changed { background: var(--changed-ground); color: var(--changed); }
a.day.suspect { background: var(--warn-ground); color: var(--warn); }
a.day.damaged { background: var(--bad-ground); color: var(--bad); }
.legend { display: flex; flex-wrap: wrap; align-items: center; gap: 0.35rem 0.75rem; font-size: 0.9rem; }
.pages, .actions { display: flex; flex-wrap: wrap; align-items: center; gap: 0.5rem 1.25rem; list-style: none; padding: 0; margin: 1rem 0; }
.pages [aria-current] { font-weight: 700; color: var(--text); text-decoration: none; }
.search { display: flex; flex-wrap: wrap; align-items: end; gap: 0.75rem 1.25rem; margin-bottom: 1rem; }
.search label, .filter label { display: block; font-size: 0.875rem; }
:is(input:not([type=checkbox], [type=radio]), select, textarea) { font: inherit; padding: 0.35rem 0.6rem; border: 1px solid var(--muted); border-radius: 6px; background: var(--ground); color: var(--text); max-width: 100%; }
.search :is(input:not([type=checkbox], [type=radio]), select) { display: block; min-height: 2.4rem; }
.search input[type=search] { width: 22rem; }
.search .check { padding-bottom: 0.5rem; }
.filter { float: right; margin: 0 0 -1.4rem; }
.filter + .hint { margin: 0.4rem 0; }
input[type=checkbox], input[type=radio] { width: 1.05rem; height: 1.05rem; vertical-align: -0.15rem; accent-color: var(--link); }
button { font: inherit; font-weight: 600; min-height: 2.4rem; padding: 0.35rem 1rem; border: 1px solid var(--link); border-radius: 6px; background: var(--link); color: var(--ground); cursor: pointer; }
button:hover { filter: brightness(1.1); }
button.quiet, button.copy { background: var(--ground); color: var(--link); border-color: var(--line); font-weight: 400; font-size: 0.875rem; min-height: 2rem; padding: 0.1rem 0.8rem; }
.choice-bar { display: flex; flex-wrap: wrap; align-items: center; gap: 0.5rem 1.25rem; padding: 0.6rem 1rem; border: 1px solid var(--line); border-radius: 8px; margin-top: 1rem; background: var(--raised); }
.choosing:has(.choose:checked) .choice-bar { position: sticky; bottom: 0; box-shadow: 0 -2px 8px rgb(0 0 0 / 12%); }
.choice-bar form.basket-add { margin: 0; }
.beside { display: grid; grid-template-columns: minmax(0, 1fr); gap: 0 2.5rem; }
.relations { display: grid; align-content: start; grid-template-columns: repeat(auto-fill, minmax(min(100%, 16rem), 1fr)); gap: 0 2rem; }
.relations ul { padding-left: 1.1rem; margin: 0; }
.relations p { margin: 0; color: var(--muted); }
pre { background: var(--raised); border: 1px solid var(--line); border-radius: 6px; padding: 0.75rem; margin: 0; overflow: auto; }
pre.json { max-height: 80vh; overflow-wrap: normal; }
.command { margin-top: 2.5rem; position: relative; }
.command h2 { font-size: 0.9rem; color: var(--muted); margin-bottom: 0.4rem; }
.command pre { white-space: pre-wrap; user-select: all; padding-right: 6rem; }
.command .copy { position: absolute; right: 0.45rem; bottom: 0.4rem; }
.help { max-width: min(32rem, 92vw); border: 1px solid var(--line); border-radius: 10px; background: var(--ground); color: var(--text); padding: 1.25rem 1.5rem; }
.help::backdrop { background: rgb(0 0 0 / 45%); }
.help h2 { margin-top: 0; }
.help dl { display: grid; grid-template-columns: auto 1fr; gap: 0.5rem 1rem; align-items: baseline; }
.help dd { margin: 0; }
kbd { border: 1px solid var(--line); border-bottom-width: 2px; border-radius: 4px; background: var(--raised); padding: 0.1rem 0.45rem; }
:is(time, a) + .age { white-space: nowrap; font-weight: 400; }
@media (min-width: 52rem) {
  .state { white-space: nowrap; }
  table.data td:has(> .reasons, > .diff) { min-width: 16rem; }
  table.data td:not(.number) { min-width: 7.5rem; }
}
@media (min-width: 76rem) {
  .beside { grid-template-columns: minmax(0, 60rem) minmax(14rem, 1fr); }
  table.data time { white-space: nowrap; }
}
@media (max-width: 64rem) {
  table.data thead th { white-space: normal; }
  table.data tbody th { min-width: 7rem; }
}
@media (max-width: 52rem) {
  .top { display: grid; grid-template-columns: 1fr auto; padding-block: 0.5rem; }
  .top nav { grid-column: 1 / -1; order: 1; gap: 0.25rem 0.75rem; font-size: 0.9rem; }
  h1 { font-size: 1.4rem; }
  table.data thead { position: absolute; clip-path: inset(50%); width: 1px; height: 1px; overflow: hidden; }
  table.data, table.data tbody, table.data tr, table.data th, table.data td, table.data caption { display: block; }
  table.data tr { border: 1px solid var(--line); border-radius: 8px; padding: 0.6rem 0.8rem; margin-bottom: 0.75rem; }
  table.data tbody th, table.data td { border: 0; padding: 0.15rem 0 !important; }
  table.data tbody th { font-size: 1.05rem; }
  table.data td.number { text-align: left; white-space: normal; }
  table.data td::before { content: attr(data-label) ": "; color: var(--muted); font-size: 0.85rem; }
  table.data td.empty { display: none; }
  .sparkline { display: inline-block; vertical-align: middle; }
  .filter { float: none; margin: 0 0 0.6rem; }
  .filter label, .search label, .filter input, .search input[type=search] { width: 100%; }
  .day { min-height: 2.4rem; padding-top: 0.3rem; }
}
@media print {
  :root { color-scheme: light; }
  body { display: block; font-size: 10pt; }
  .skip, .top nav, .badge, .foot, .search, .filter, .pages, .actions, .choice-bar, button { display: none; }
  .top { background: none; padding: 0; }
  main { padding: 0; max-width: none; }
  table.data thead th { position: static; }
  table.data tr, table.month, .facts { break-inside: avoid; }
  .day, .state, .notice { print-color-adjust: exact; }
  pre.json { max-height: none; white-space: pre-wrap; }
}
`
