//! Texts that want to be more than text. Each that could run sets `window.ran`, or opens a dialog.

/// The texts, in which `N` is the number of the text.
pub(crate) const TEXTS: [&str; 40] = [
    "<script>window.ran=N</script>",
    "</script><script>window.ran=N</script>",
    "</ScRiPt\t><sCrIpT>window.ran=N</sCrIpT >",
    "<!--<script>window.ran=N//-->",
    "--><script>window.ran=N</script><!--",
    "]]><script>window.ran=N</script>",
    "<img src=x onerror=window.ran=N>",
    "\"><img src=x onerror=\"window.ran=N\">",
    "'><img src=x onerror='window.ran=N'>",
    "<svg onload=window.ran=N>",
    "<svg><script>window.ran=N</script></svg>",
    "<svg><animate onbegin=window.ran=N attributename=x dur=1s>",
    "<math><mtext><style><img src=x onerror=window.ran=N></style></mtext></math>",
    "<iframe src=\"javascript:parent.ran=N\"></iframe>",
    "<iframe srcdoc=\"<script>parent.ran=N</script>\"></iframe>",
    "<object data=\"data:text/html,<script>parent.ran=N</script>\"></object>",
    "<a href=\"javascript:window.ran=N\" autofocus>click</a>",
    "javascript:window.ran=N",
    "data:text/html,<script>window.ran=N</script>",
    "<input autofocus onfocus=window.ran=N>",
    "<details open ontoggle=window.ran=N>",
    "<body onload=window.ran=N>",
    "<marquee onstart=window.ran=N>wide</marquee>",
    "<base href=\"http://127.0.0.1:9/\"><link rel=stylesheet href=N>",
    "<meta http-equiv=refresh content=\"0;url=http://127.0.0.1:9/N\">",
    "<style>*{display:none!important}</style>",
    "</style></title></textarea></noscript><script>window.ran=N</script>",
    "<template><script>window.ran=N</script></template>",
    "<form action=http://127.0.0.1:9/N><button autofocus>send",
    "{{constructor.constructor('window.ran=N')()}}",
    "${window.ran=N} #{window.ran=N} <%= window.ran=N %> {% raw %}",
    "\\\";window.ran=N;//",
    "\\u003cscript\\u003ewindow.ran=N\\u003c/script\\u003e &lt;script&gt;",
    "\u{202e}N=nar.wodniw\u{202c} \u{2066}bidi\u{2069} \u{200f}\u{061c}",
    "zero\u{200b}\u{200c}\u{200d}\u{2060}\u{feff}width\u{ad}N",
    "\u{0}\u{1}\u{8}\u{1b}[31mred\u{1b}[0m\u{7f}\u{85}N",
    "line\u{2028}separator\u{2029}N\r\n\tand tab",
    "__proto__ constructor toString N",
    "WWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWN",
    "Z\u{335}\u{321}\u{322}\u{327}\u{328}a\u{300}\u{301}\u{302}\u{303}\u{304}\u{305}\u{306}\u{307}\u{308}\u{309}\u{30a}\u{30b}l\u{33f}g\u{361}o\u{489} \u{fdfd} N",
];

/// The texts, each with its number.
pub(crate) fn texts() -> Vec<String> {
    TEXTS.iter().enumerate().map(|(at, text)| text.replace('N', &at.to_string())).collect()
}
