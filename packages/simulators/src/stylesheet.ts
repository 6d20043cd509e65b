/**
 * The styles of the practice vendors' pages. Colours are variables, light and dark; the platform's
 * differ, so that a newcomer sees whose page it is. No fonts, no images.
 */
export const STYLESHEET = `
:root{color-scheme:light dark;--ink:#17202a;--soft:#4d5b69;--line:#cfd7df;--paper:#fff;--ground:#f2f5f8;--accent:#6b2fa8;--onaccent:#fff;--tint:#f4ecfb}
@media (prefers-color-scheme:dark){
  :root{--ink:#e8edf2;--soft:#a9b6c3;--line:#3a4653;--paper:#1b232c;--ground:#10161c;--accent:#c9a2f2;--onaccent:#22103a;--tint:#2c2140}
}
*{box-sizing:border-box}
body{margin:0;background:var(--ground);color:var(--ink);font:16px/1.55 system-ui,-apple-system,"Segoe UI",Roboto,"Liberation Sans",Arial,sans-serif}
.skip{position:absolute;left:-999px}
.skip:focus{left:1rem;top:1rem;background:var(--paper);padding:.5rem 1rem;z-index:1}
header,main{max-width:33rem;margin:0 auto;padding:0 1rem}
header{display:flex;gap:.75rem;align-items:center;padding-top:1.5rem}
.mark{flex:none;width:2.5rem;height:2.5rem;border-radius:.7rem;background:var(--accent);color:var(--onaccent);display:grid;place-items:center;font-weight:700;font-size:1.2rem}
.brand{margin:0;font-weight:700;line-height:1.2}
.note{margin:.1rem 0 0;color:var(--soft);font-size:.9rem}
h1{font-size:1.5rem;line-height:1.25;margin:0 0 .5rem}
p{margin:.25rem 0 .75rem}
.card{background:var(--paper);border:1px solid var(--line);border-radius:1rem;padding:1.5rem;margin:1.25rem 0;box-shadow:0 1px 3px #0000001a}
button{font:inherit;font-weight:600;min-height:2.75rem;padding:.55rem 1.1rem;border-radius:.6rem;border:1px solid var(--accent);background:var(--accent);color:var(--onaccent);cursor:pointer;text-decoration:none;display:inline-block}
button:hover{filter:brightness(1.08)}
button.quiet{background:transparent;color:var(--ink);border-color:var(--soft)}
button.wide{width:100%;text-align:left;display:block;margin:.6rem 0;padding:.8rem 1.1rem;background:var(--tint);color:var(--ink)}
button.wide small{display:block;font-weight:400;color:var(--soft)}
button.wide:hover{background:var(--accent);color:var(--onaccent)}
button.wide:hover small{color:inherit}
:focus-visible{outline:3px solid var(--accent);outline-offset:3px}
a{color:var(--accent)}
.row{display:flex;flex-wrap:wrap;gap:.75rem;margin-top:1rem}
.row form{margin:0}
ul.plain{list-style:none;margin:.5rem 0 1rem;padding:0}
ul.plain li{padding:.6rem 0;border-top:1px solid var(--line)}
ul.plain li:first-child{border-top:0}
label{display:block;font-weight:600;font-size:.95rem}
input:not([type]),select{display:block;width:100%;margin-top:.25rem;font:inherit;font-weight:400;min-height:2.75rem;padding:.45rem .7rem;border-radius:.6rem;border:1px solid var(--soft);background:var(--paper);color:var(--ink)}
input[type=checkbox]{width:1.15rem;height:1.15rem;margin:.2rem 0 0;accent-color:var(--accent)}
label:has(input[type=checkbox]){display:grid;grid-template-columns:auto 1fr;gap:.75rem;padding:.6rem 0;border-top:1px solid var(--line);font-weight:400;font-size:1rem}
.back{text-align:center}
code{font:.9em ui-monospace,SFMono-Regular,Menlo,"Liberation Mono",monospace;overflow-wrap:anywhere}
.soft{color:var(--soft)}
@media (max-width:36rem){
  .card{padding:1.1rem}
  .row,.row form,.row button{width:100%}
}
`;
