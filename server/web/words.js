// Every text of the explorer, in one object: a translation replaces this file and the lang attribute of index.html.
// {name} is filled in by say(); what is filled in is always data and becomes a text node.

export const WORDS = {
  steps: {
    start: { word: "start", title: "Three lists of numbers", next: "back to the start",
      lead: "Attention lets each word take from the others. Its query says what it looks for, its key what it offers, its value what it gives." },
    scores: { word: "score", title: "Score every pair", next: "score every pair",
      lead: "Every query meets every key. Multiply number by number and add up: the better the offer fits the wish, the larger the score." },
    scaled: { word: "scale", title: "Scale the scores", next: "scale the scores",
      lead: "Longer lists give larger scores. Dividing by the square root of the width keeps them in one size, whatever the width." },
    capped: { word: "cap", title: "Cap the scores", next: "cap the scores",
      lead: "Large scores are bent towards a limit, so that no single one can run away." },
    biased: { word: "bias", title: "Add the bias", next: "add the bias",
      lead: "A number is added to each score before the softmax: distance, or whatever else the request says." },
    masked: { word: "mask", title: "Hide what may not be seen", next: "hide what may not be seen",
      lead: "Some words may not be seen, like those that come later: a score of minus infinity will count 0. Click a cell to hide or to show it." },
    row_max: { word: "largest", title: "Find the largest", next: "find the largest",
      lead: "The largest score of each row will be taken off all of them. It changes no share, and nothing can overflow." },
    shifted: { word: "shift", title: "Measure from the largest", next: "measure from the largest",
      lead: "Each score, less the largest of its row. The best pair stands at 0 and all others below it." },
    exp: { word: "exp", title: "Take exponentials", next: "take exponentials",
      lead: "e to the power of each number: differences become ratios. All is positive now, and what was hidden is exactly 0." },
    row_sum: { word: "sum", title: "Add up each row", next: "add up each row",
      lead: "The exponentials of a row are added. Their sum is the whole that will be shared out." },
    weights: { word: "divide", title: "Divide by the sum", next: "divide by the sum",
      lead: "Every exponential of a row is divided by the row's sum. What was a score is now a share: each row adds up to one." },
    dropped: { word: "drop", title: "Drop some at random", next: "drop some at random",
      lead: "While a model learns, some weights are dropped and the others grow to make up for them." },
    mix: { word: "mix", title: "Mix the values", next: "mix the values",
      lead: "Each key hands over its value, as much of it as its share. Added up, that is what the query takes home." },
    output: { word: "output", title: "The output", next: "see the output",
      lead: "One row for each query: what it looked at, blended by how much. This is what a model goes on with." },
  },
  linear: { title: "Scores as weights", lead: "Without the softmax the scaled scores are the weights: they may be negative, and a row need not add up to one." },
  say: {
    start: "{query} looks for {q}. {key} offers {k}.",
    scores: "{query} asks, {key} answers: their score is {score}.",
    scaled: "The score of {query} and {key} becomes {scaled}.",
    capped: "The score of {query} and {key} is bent to {capped}.",
    biased: "The score of {query} and {key} becomes {biased}.",
    masked: "{query} may look at {key}: the score stays {masked}.",
    hidden: "{query} may not look at {key}{why}.",
    row_max: "The largest score that {query} sees is {largest}, at {best}.",
    row_max_sink: "The largest that {query} sees is {largest}, and it is the sink.",
    shifted: "{key} stands {away} below the best that {query} sees.",
    shifted_best: "{key} is the best that {query} sees: it stands at 0.",
    exp: "For {query}, {key} counts {exp}, where the best counts 1.",
    row_sum: "For {query}, all that it sees adds up to {sum}.",
    weights: "{query} looks at {key} with {weight} of its attention.",
    linear: "{query} weighs {key} with {weight}.",
    dropped: "After the drop {query} weighs {key} with {weight}.",
    mix: "{query} takes {weight} of {key}\u2019s {value}: {part} in place {feature}, {sofar} so far.",
    output: "{query} takes home {value} in place {feature}.",
    joined: "Place {feature} of {query} is {value}, after W_O has mixed the heads.",
    empty: "{query} may look at no key at all: no key allowed, so its row is 0.",
    nothing: "For {query}, {key} is hidden and counts exactly 0.",
  },
  why: { causal: ": it comes later", window: ": it is outside the window", documents: ": it belongs to another document", key_lengths: ": it is past the end",
    allow: ": the mask hides it", bias: ": the bias hides it" },
  row: {
    title: "The row of \u201c{query}\u201d", hidden: "hidden", bits: "{bits} bits of at most {most}: the row spreads over {keys} keys.",
    one: "Only one key is visible: there is nothing to choose.", pinned: "All of it goes to one key. Almost no gradient gets through: this row no longer learns.",
    alive: "A gradient still gets through: the row can learn.", none: "No key is allowed, so the row is 0.",
    single: "{bytes} bytes for each token, in float16: its key and its value. With one head there is nothing to share.", billed: "Bytes a token, in float16, for each way to arrange the heads.",
    layouts: { request: "this request", multi_head: "multi-head", grouped_query: "grouped", multi_query: "multi-query", latent: "latent" },
    flops: "{flops} operations for all of it.",
  },
  check: {
    same: "Recomputed in this page: largest difference {difference}.", exact: "Recomputed in this page: the same to the last bit.",
    waiting: "This page's own numbers, until the service answers.", alone: "This page's own arithmetic: the service does not answer.",
    unable: "Not recomputed here: only the service knows {what}.",
  },
  inputs: {
    q: "Queries Q", k: "Keys K", v: "Values V", x: "Embeddings X", context: "Context C", w_q: "Projection W\u1d60", w_k: "Projection W\u2096", w_v: "Projection W\u1d65", w_o: "Output W\u2092",
    rows: "rows", columns: "cols", add: "Add a row to {name}", drop: "Remove the last row of {name}", wider: "Add a column to {name}", narrower: "Remove the last column of {name}",
    token: "Name of row {row} in {name}", cell: "{name}, {row}, column {column}", number: "Type a number, like 0.5 or -2.",
    head: "head {head}", large: "{rows} \u00d7 {columns} numbers: change them in the request.", packed: "columns of all heads", other: "Also in the request: {names}.",
  },
  mask: { none: "none", causal: "causal", window: "window", prefix: "prefix", draw: "draw", left: "back", right: "ahead", keys: "keys", visible: "{query} sees {key}", hidden: "{query} does not see {key}",
    zero: "Let empty rows be 0" },
  scale: { auto: "1/\u221ad", one: "1", own: "own" },
  player: { play: "Play", pause: "Pause", next: "Next: {what}", again: "Start again", of: "{at} of {all}", spoken: "step {at} of {all}: {word}" },
  axes: { query: "query", key: "key", feature: "feature" },
  live: "query {query}, key {key}, {value}, step {word}",
  stage: { pin: "Pin", pinned: "Pinned", share: "share", sofar: "so far", sum: "sum", largest: "largest",
    table: "Show as table", canvas: "Show as picture", head: "Head {head}", batch: "Batch {batch}", hidden: "hidden" },
  lens: {
    away: "This needs the service, which does not answer.",
    steps: { tab: "Steps" },
    pull: { tab: "What pulls", title: "What pulls on one number", lead: "Choose a number of the output. Behind it stands how much it would move if a number before it moved by a little: its gradient." },
    learn: { tab: "Learning", title: "A head learns to copy", lead: "Each word shall say the word before it. Nobody tells the head where to look: the loss does. Watch the stripe under the diagonal light up." },
    tiles: { tab: "Tile by tile", title: "Never the whole matrix", lead: "Fast kernels read the keys tile by tile. They keep the largest score, the sum and the output so far, and correct them when a larger score comes." },
    cache: { tab: "Fewer bits", title: "The cache at fewer bits", lead: "A model keeps the keys and values of all that came before. Kept in fewer bits they are nearly right: see what becomes of the shares." },
    precision: { tab: "Rounding", title: "The numbers that kernels use", lead: "Fast kernels take numbers of 16 or even 8 bits, and round the shares as well. Most survive it; a row may no longer add up to one." },
    latent: { tab: "Latent", title: "Keep a short note, not the keys", lead: "Latent attention keeps a few numbers for each word and makes the keys and values of all heads from them when they are wanted." },
    wrong: { tab: "Wrong ways", title: "The wrong ways, beside the right one", lead: "Four shares for the same scores. What looks like a detail decides whether a hidden word stays hidden and whether a row is a whole." },
  },
  refused: "The service refuses this: ",
  share: { copied: "Copied.", failed: "The browser does not let this page copy. The text is selected: copy it with the keyboard." },
  imported: { broken: "This is not JSON: {why}", object: "A request is a JSON object, with q, k and v, or x and its projections.", large: "This is more than the page takes: at most {most}." },
  link: "The link could not be read ({why}); the worked example stands in its place.",
};

/**
 * A text with its gaps filled. Strings of `data` become strings, nodes stay nodes.
 * @param {string} template
 * @param {Record<string, string | number | Node>} data
 * @returns {(string | Node)[]}
 */
export function say(template, data) {
  return template.split(/(\{\w+\})/).map((part) => {
    const name = /^\{(\w+)\}$/.exec(part)?.[1];
    const found = name === undefined ? part : (data[name] ?? "");
    return found instanceof Node ? found.cloneNode(true) : String(found);
  });
}

/** The same as plain text. @param {string} template @param {Record<string, string | number>} data */
export const sayText = (template, data) => say(template, data).join("");
