# Source this file: it points the environment at this toolkit, wherever it lies.
if [ -n "${BASH_SOURCE:-}" ]; then _script="${BASH_SOURCE}"; else _script="$0"; fi
_root="$(cd "$(dirname "${_script}")" && pwd)"
export ASCEND_TOOLKIT_HOME="${_root}"
export ASCEND_HOME_PATH="${_root}"
export ASCEND_AICPU_PATH="${_root}"
export ASCEND_OPP_PATH="${_root}/opp"
export LD_LIBRARY_PATH="${_root}/lib64${LD_LIBRARY_PATH:+:${LD_LIBRARY_PATH}}"
unset _script _root
