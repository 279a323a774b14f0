// Where text is: boxes out of the map that the detection gives.
#ifndef WASINN_EXAMPLES_OCR_BOXES_H_
#define WASINN_EXAMPLES_OCR_BOXES_H_

#include <span>
#include <vector>

#include "picture.h"

// `map`: for each of width x height pixels how probably it is text's. The boxes, in the order in which one reads.
std::vector<Quad> FindBoxes(std::span<const float> map, int width, int height);

#endif  // WASINN_EXAMPLES_OCR_BOXES_H_
