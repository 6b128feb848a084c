/** Styles of the pages that restore. */
export const restoreStyle = `.count { display: inline-block; border: 1px solid currentColor; border-radius: 1rem; padding: 0 0.45rem; font-size: 0.8rem; }
a.button { display: inline-block; padding: 0.45rem 1rem; border-radius: 6px; font-weight: 600; background: var(--link); color: var(--ground); text-decoration: none; }
button.plain, .actions .basket-add button { padding: 0.35rem 1rem; background: var(--ground); color: var(--link); }
form.inline { display: inline; }
form.basket-add { margin: 0.75rem 0; }
.basket-group { border-top: 1px solid var(--line); margin-top: 1.5rem; }
input.choose { margin-right: 0.4rem; width: 1rem; height: 1rem; }
.confirm fieldset, .plan-options fieldset { border: 1px solid var(--line); border-radius: 6px; padding: 0.75rem 1rem; margin: 1.5rem 0; max-width: 60rem; }
.confirm fieldset { border: 2px solid var(--warn); }
.confirm legend, .plan-options legend { font-weight: 600; padding: 0 0.4rem; }
.plan-options label { display: block; margin-bottom: 0.35rem; }
.confirm label { display: block; margin: 0.5rem 0 1rem; }
.confirm input[name=name] { display: block; font: inherit; margin-top: 0.35rem; padding: 0.35rem 0.5rem; border: 1px solid var(--muted); border-radius: 4px; background: var(--ground); color: var(--text); width: 22rem; max-width: 100%; }
.plan-same summary { font-weight: 600; padding: 0.5rem 0; cursor: pointer; }
.overwrite { border-left: 3px solid var(--warn); padding-left: 1rem; margin: 1rem 0; }
h3 { font-size: 1rem; margin: 1.25rem 0 0.5rem; }
.needs { padding-left: 1.1rem; margin: 0.25rem 0 1rem; }
.steps { padding-left: 1.3rem; }
.steps .past { color: var(--muted); }
.steps .current { font-weight: 700; }
progress { vertical-align: middle; width: 16rem; max-width: 100%; }
@media print { .confirm, .plan-options, .basket-add, .basket-remove, a.button { display: none; } }
`
