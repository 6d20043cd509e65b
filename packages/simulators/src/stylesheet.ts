/**
 * The styles of the sandbox's pages. Colours are variables, light and dark; each side has its own
 * accent. No fonts, no images.
 */
export const STYLESHEET = `
:root{color-scheme:light dark;--ink:#17202a;--soft:#4d5b69;--line:#cfd7df;--paper:#fff;--ground:#f2f5f8;--good:#0b6b3a;--goodbg:#e4f5ea;--bad:#a32015;--badbg:#fdebe8}
.vendor{--accent:#6b2fa8;--onaccent:#fff;--tint:#f4ecfb}
.platform{--accent:#0b5cad;--onaccent:#fff;--tint:#e8f1fb}
@media (prefers-color-scheme:dark){
  :root{--ink:#e8edf2;--soft:#a9b6c3;--line:#3a4653;--paper:#1b232c;--ground:#10161c;--good:#7fdba6;--goodbg:#123222;--bad:#ffaaa0;--badbg:#42201c}
  .vendor{--accent:#c9a2f2;--onaccent:#22103a;--tint:#2c2140}
  .platform{--accent:#8cc2ff;--onaccent:#06203d;--tint:#17293d}
}
*{box-sizing:border-box}
body{margin:0;background:var(--ground);color:var(--ink);font:16px/1.55 system-ui,-apple-system,"Segoe UI",Roboto,"Liberation Sans",Arial,sans-serif}
.skip{position:absolute;left:-999px}
.skip:focus{left:1rem;top:1rem;background:var(--paper);padding:.5rem 1rem;z-index:1}
header,main{max-width:58rem;margin:0 auto;padding:0 1rem}
.vendor header,.vendor main{max-width:33rem}
header{display:flex;gap:.75rem;align-items:center;padding-top:1.5rem}
.mark{flex:none;width:2.5rem;height:2.5rem;border-radius:.7rem;background:var(--accent);color:var(--onaccent);display:grid;place-items:center;font-weight:700;font-size:1.2rem}
.brand{margin:0;font-weight:700;line-height:1.2}
.note{margin:.1rem 0 0;color:var(--soft);font-size:.9rem}
h1{font-size:1.5rem;line-height:1.25;margin:0 0 .5rem}
h2{font-size:1.15rem;margin:0 0 .5rem}
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
ul.vendors{list-style:none;margin:1rem 0 0;padding:0}
ul.vendors>li{display:grid;grid-template-columns:1fr 17rem;gap:.5rem 1.25rem;align-items:center;padding:1rem 0;border-top:1px solid var(--line)}
ul.vendors>li.asks{grid-template-columns:1fr}
ul.vendors>li:last-child{padding-bottom:0}
ul.vendors p{margin:0}
ul.vendors .name{font-weight:600;font-size:1.05rem}
ul.vendors .row{margin:0}
ul.vendors form,ul.vendors button{width:100%}
ul.vendors .asks form{display:grid;grid-template-columns:1fr 1fr;gap:.75rem 1.25rem;align-items:end}
label{display:block;font-weight:600;font-size:.95rem}
input:not([type]),select{display:block;width:100%;margin-top:.25rem;font:inherit;font-weight:400;min-height:2.75rem;padding:.45rem .7rem;border-radius:.6rem;border:1px solid var(--soft);background:var(--paper);color:var(--ink)}
input[type=checkbox]{width:1.15rem;height:1.15rem;margin:.2rem 0 0;accent-color:var(--accent)}
label:has(input[type=checkbox]){display:grid;grid-template-columns:auto 1fr;gap:.75rem;padding:.6rem 0;border-top:1px solid var(--line);font-weight:400;font-size:1rem}
pre{margin:0;white-space:pre-wrap}
.back{text-align:center}
.last{margin:1rem 0 0}
code{font:.9em ui-monospace,SFMono-Regular,Menlo,"Liberation Mono",monospace;overflow-wrap:anywhere}
.soft{color:var(--soft)}
.steps{list-style:none;display:grid;grid-template-columns:repeat(3,1fr);gap:.5rem;padding:0;margin:1.25rem 0 0;counter-reset:step}
.steps li{counter-increment:step;border-top:4px solid var(--line);padding-top:.5rem;color:var(--soft);font-size:.95rem;line-height:1.3}
.steps li::before{content:counter(step) ". "}
.steps li.done{border-color:var(--good);color:var(--ink)}
.steps li[aria-current]{border-color:var(--accent);color:var(--ink);font-weight:600}
.notice{border-left:5px solid var(--good);background:var(--goodbg);border-radius:.5rem;padding:.9rem 1.1rem;margin:1.25rem 0}
.notice.problem{border-color:var(--bad);background:var(--badbg)}
.notice.calm{border-color:var(--accent);background:var(--tint)}
.notice p{margin:.15rem 0}
dl{display:grid;grid-template-columns:minmax(8rem,max-content) 1fr;gap:.45rem 1.25rem;margin:.5rem 0 0}
dt{color:var(--soft)}
dd{margin:0;overflow-wrap:anywhere}
.tag{display:inline-block;border-radius:1rem;padding:.05rem .65rem;font-size:.85rem;font-weight:600;background:var(--tint);color:var(--ink)}
.tag.bad{background:var(--badbg);color:var(--bad)}
.tag.good{background:var(--goodbg);color:var(--good)}
table{width:100%;border-collapse:collapse}
caption{text-align:left;color:var(--soft);padding-bottom:.5rem}
th,td{text-align:left;vertical-align:top;padding:.7rem .9rem .7rem 0;border-top:1px solid var(--line);font-weight:400}
thead th{font-size:.85rem;color:var(--soft);border-top:0;padding-top:0}
th strong{display:block;line-height:1.35}
td ul{margin:0;padding:0;list-style:none}
td li{padding-left:1.5rem;position:relative}
td li::before{content:"✓";position:absolute;left:0;color:var(--good);font-weight:700}
@media (max-width:36rem){
  dl{grid-template-columns:1fr;gap:0}
  dd{margin-bottom:.6rem}
  .card{padding:1.1rem}
  th,td{display:block}
  td{border-top:0;padding-top:0}
  thead{display:none}
  .row,.row form,.row button{width:100%}
  ul.vendors>li,ul.vendors .asks form{grid-template-columns:1fr}
}
`;
