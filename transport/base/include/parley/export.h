#pragma once

// Marks what a shared libparley exports; everything else is hidden.
#define PARLEY_API __attribute__((visibility("default")))
