// Finds boxes of text in the map that the detection model returns.
#ifndef WASINN_EXAMPLES_OCR_BOXES_H_
#define WASINN_EXAMPLES_OCR_BOXES_H_

#include <span>
#include <vector>

#include "picture.h"

// `map` has a probability of text for each of width x height pixels. Returns the boxes in reading order.
std::vector<Quad> FindBoxes(std::span<const float> map, int width, int height);

#endif  // WASINN_EXAMPLES_OCR_BOXES_H_
