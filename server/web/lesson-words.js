// The texts of the lessons, fetched with them.

export const LESSONS = {
  pull: {
    output: "output", choose: "Click one.", weights: "\u2190 its shares", masked: "\u2190 the scores it saw", scores: "\u2190 query times key", q: "\u2190 queries", k: "\u2190 keys", v: "\u2190 values",
    up: "If {query} scored {key} higher, this number would rise: by {slope} for each 1.", down: "If {query} scored {key} higher, this number would fall: by {slope} for each 1.",
    hidden: "{key} is hidden from {query}: exactly nothing gets through.", dark: "The row of {query} is saturated: one key has nearly all. Only {through} gets through the softmax, so queries and keys are dark and no longer learn.",
    linear: "Without the softmax the gradient runs straight through.", formula: "the derivative of the softmax" },
  learn: {
    weights: "where each word looks", ring: "ringed: the word before", loss: "loss", guess: "what each word says of the one before", rate: "rate", run: "Learn", pause: "Pause", one: "One step", again: "Start anew", inside: "The projections that learn",
    before: "Untrained: the shares are nearly even, and the loss is {loss}.", during: "After {count} steps the loss is {loss}; it began at {first}.", done: "After {count} steps the loss is {loss}: each word looks at the word before and says it.",
    curve: "The loss falls from {first} to {last} in {count} steps" },
  tiles: {
    size: "keys in a tile", back: "Tile before", next: "Next tile", again: "From the first tile", place: "tile {at} of {tiles}", exps: "exponentials, against the largest so far", ring: "Ringed: this tile. Hatched: hidden, or not read yet.", state: "what is kept of each row", largest: "largest", rescale: "factor", sum: "sum",
    accumulator: "values added up", output: "output so far: values by the sum", told: "{query} has read {seen} of {all} keys. The largest score so far is {largest}, the sum {sum}.", nothing: "{query} has read {seen} of {all} keys and may see none of them yet.",
    end: "All keys are read. For {query}, the values by the sum {sum} are the output: no row was ever whole.", rescaled: "What was there before is multiplied by ", first: "The first tile: there is nothing to correct.", bill: "Kept at any time: {kept} numbers. The whole matrix has {matrix}; its size grows with the keys, that of what is kept does not." },
  cache: {
    method: "Method", methods: { affine: "affine", symmetric: "symmetric", turboquant: "TurboQuant" }, bits: "bits", exact: "keys as they are", kept: "keys as kept", weights: "shares with what is kept", apart: "change of the shares", output: "change of the output",
    told: "At {bits} bits {query} looks at {key} with {now}, in place of {before}.", scores: "largest error of a score", shares: "of a share", outputs: "of the output", flips: "rows with another favourite",
    size: "bits a number, keys / values, scales included", ratio: "times smaller than 16 bits, keys / values" },
  precision: {
    kind: "Numbers", kinds: {
      "bf16-kernel": { tab: "bfloat16", told: "As most kernels do it: numbers come in as bfloat16, sums and the softmax are in float32, the shares are rounded to bfloat16 before the mix." },
      "bf16-all": { tab: "bfloat16 throughout", told: "Every step is rounded to bfloat16, the sums as well: this is what the float32 in kernels is for." },
      fp16: { tab: "float16", told: "Numbers come in as float16 and the shares go out as float16: finer than bfloat16, but nothing above 65504 fits." },
      fp8: { tab: "float8", told: "Numbers and shares have 8 bits: between 1 and the next number there is a gap of an eighth." } },
    weights: "shares, rounded", apart: "change of the shares", output: "output, rounded", moved: "change of the output", sums: "The sums are of the rounded shares.",
    told: "{query} looks at {key} with {now}, in place of {before}; its row adds up to {sum}.", gaps: "from 1 to the next number: inputs / softmax / shares", scores: "largest error of a score", shares: "of a share", outputs: "of the output", lost: "numbers that became 0 / that hit the largest" },
  latent: {
    form: "Form", forms: { expanded: "keys made again", absorbed: "never made" }, head: "Head", note: "kept: the note of each word", rope: "kept: its place, turned", keys: "keys of this head, made of both", values: "values of this head", weights: "shares", absorbed: "queries, carried into the note",
    bill: "Numbers kept for each word", multi: "multi-head", latent: "latent", expanded: "The keys and values of {heads} heads would be {all} numbers a word. Kept are {kept}: the others are made of them.",
    same: "The queries are carried into the note instead: no key is ever made, and every share is the same to {apart}." },
  wrong: {
    right: { title: "right: \u2212\u221e before the softmax", note: "Hidden is 0, and each row adds up to 1." }, zero: { title: "wrong: 0 before the softmax", note: "e\u2070 is 1: ringed cells leak." },
    late: { title: "wrong: mask after the softmax", note: "Rows no longer add up to 1." }, unscaled: { title: "wrong: no scale", note: "Wider lists, harder rows." },
    row: "For {query}, zeros leak {leaks} to hidden words; masked too late, only {sum} of its attention is left.", open: "{query} hides nothing. Without the scale its largest share is {largest}, with it {scaled}.", linear: "Without a softmax there is nothing to do wrong." },
};
