// Images and sounds as parts of a message, in OpenAI's form.
#pragma once

#include <string>

// The part as JSON; "" if the file cannot be read, with a message on stderr. The host decodes it; the file is not
// opened otherwise.
std::string ImagePart(const std::string& path);
std::string SoundPart(const std::string& path);
