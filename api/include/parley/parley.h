#pragma once

// All of Parley's API. Each header may be included alone.
#include <parley/batch.h>
#include <parley/collectives.h>
#include <parley/dtype.h>
#include <parley/error.h>
#include <parley/init.h>
#include <parley/launch.h>
#include <parley/log.h>
#include <parley/message.h>
#include <parley/persistent.h>
#include <parley/process_group.h>
#include <parley/reduce_op.h>
#include <parley/store.h>
#include <parley/stream.h>
#include <parley/tensor.h>
#include <parley/types.h>
#include <parley/work.h>
