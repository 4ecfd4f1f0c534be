// The steps of the chain in their order: what each shows, in which colours, by which formula. A new step is one row here.

/** @type {(name: string) => Formula} */
const mi = (name) => ["mi", name];
/** @type {(sign: string) => Formula} */
const mo = (sign) => ["mo", sign];
/** @type {(base: string, index: string) => Formula} */
const sub = (base, index) => ["msub", mi(base), mi(index)];

/** @type {Formula} */
const QKt = ["mrow", mi("Q"), ["msup", mi("K"), ["mi", "\u22a4"]]];

/** @type {Step[]} */
const ALL = [
  { id: "start", view: "start", paint: "around", spoken: "softmax of Q K transposed over the square root of d, times V",
    formula: [mi("softmax"), mo("("), ["mfrac", QKt, ["msqrt", mi("d")]], mo(")"), mi("V")] },
  { id: "scores", view: "pairs", paint: "around", spoken: "Q K transposed", formula: [QKt] },
  { id: "scaled", view: "pairs", paint: "around", spoken: "S equals Q K transposed over the square root of d",
    formula: [mi("S"), mo("="), ["mfrac", QKt, ["msqrt", mi("d")]]] },
  { id: "capped", view: "pairs", paint: "around", spoken: "c times the hyperbolic tangent of s over c", formula: [mi("c"), mi("tanh"), mo("("), mi("s"), mo("/"), mi("c"), mo(")")] },
  { id: "biased", view: "pairs", paint: "around", spoken: "s plus b", formula: [mi("s"), mo("+"), mi("b")] },
  { id: "masked", view: "pairs", paint: "around", hides: true, spoken: "s, or minus infinity where hidden", formula: [mi("s"), mo("|"), mo("\u2212"), ["mi", "\u221e"]] },
  { id: "row_max", view: "pairs", shows: "masked", side: "row_max", paint: "around", hides: true, spoken: "the largest s of the row",
    formula: [sub("m", "i"), mo("="), ["munder", mi("max"), mi("j")], ["msub", mi("s"), mi("ij")]] },
  { id: "shifted", view: "pairs", paint: "around", hides: true, spoken: "s minus the largest of the row", formula: [["msub", mi("s"), mi("ij")], mo("\u2212"), sub("m", "i")] },
  { id: "exp", view: "pairs", paint: "share", hides: true, spoken: "e to the power of s minus m", formula: [["msup", mi("e"), ["mrow", ["msub", mi("s"), mi("ij")], mo("\u2212"), sub("m", "i")]]] },
  { id: "row_sum", view: "pairs", shows: "exp", side: "row_sum", paint: "share", hides: true, spoken: "the sum of the exponentials of the row",
    formula: [sub("z", "i"), mo("="), ["munder", mo("\u2211"), mi("j")], ["msub", mi("e"), mi("ij")]] },
  { id: "weights", view: "pairs", paint: "share", hides: true, spoken: "the weight: the exponential over the sum of its row",
    formula: [["msub", mi("w"), mi("ij")], mo("="), ["mfrac", ["msub", mi("e"), mi("ij")], sub("z", "i")]] },
  { id: "dropped", view: "pairs", paint: "share", hides: true, spoken: "the weights after dropout", formula: [["msub", mi("w"), mi("ij")], mo("/"), mo("("), ["mn", "1"], mo("\u2212"), mi("p"), mo(")")] },
  { id: "mix", view: "mix", paint: "around", spoken: "the sum of weight times value", formula: [["munder", mo("\u2211"), mi("j")], ["msub", mi("w"), mi("ij")], sub("v", "j")] },
  { id: "output", view: "output", paint: "around", spoken: "O equals W V", formula: [mi("O"), mo("="), mi("W"), mi("V")] },
];

/** The steps that this request has. @param {Slice | null} slice @returns {Step[]} */
export function stepsOf(slice) {
  if (!slice) return ALL.filter((step) => !["capped", "biased", "dropped"].includes(step.id));
  return ALL.filter((step) => step.view !== "pairs" || slice.steps[step.id] !== undefined);
}

/** @param {Slice} slice @returns {boolean} the softmax was left out */
export const isLinear = (slice) => slice.steps.exp === undefined;

/** The weights that mix the values. @param {Slice} slice @returns {number[][]} */
export const mixing = (slice) => slice.steps.dropped ?? slice.weights;
