// The boxes of Figure 1, from the foot up.

/**
 * The rows of each stack. A list in a row are boxes beside each other, and what follows a sub-layer
 * is its Add & norm. `BOXES` in viz/pages/architecture/boxes.py says what the boxes are.
 * @type {Record<string, (string | string[])[]>}
 */
export const STACKS = {
  encoder: ["tokens", ["embedding", "positions"], "sum", "self_attention", "self_attention_norm",
    "feed_forward", "feed_forward_norm"],
  decoder: ["tokens", ["embedding", "positions"], "sum", "self_attention", "self_attention_norm",
    "cross_attention", "cross_attention_norm", "feed_forward", "feed_forward_norm", "linear",
    "softmax"],
};

export const SUBLAYERS = ["self_attention", "cross_attention", "feed_forward"];
