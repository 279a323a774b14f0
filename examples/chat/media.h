// Images and sounds as parts of a message, in OpenAI's form.
#pragma once

#include <string>

// The part as JSON; "" if the file cannot be read, which is said on stderr. The host decodes it, and nothing else opens the file.
std::string ImagePart(const std::string& path);
std::string SoundPart(const std::string& path);
