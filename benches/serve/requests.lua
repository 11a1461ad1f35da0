-- Requests the lines in a file from a running server, one after the other; each connection begins at another line:
--     python3 benches/serve/load.py http://127.0.0.1:9002 --lines lines.txt
--     wrk -t2 -c16 -d20s --latency -s benches/serve/requests.lua http://127.0.0.1:9002 -- lines.txt
local lines, at = {}, 0
local threads = 0
function setup(thread)
    threads = threads + 1
    thread:set("number", threads)
end
function init(args)
    for line in io.lines(args[1]) do lines[#lines + 1] = wrk.format("GET", line) end
    at = (number * 7919) % #lines
end
function request()
    at = at % #lines + 1
    return lines[at]
end
function done(summary)
    local errors = summary.errors
    io.write(string.format("%.0f answers a second, %d errors\n", summary.requests / summary.duration * 1e6,
        errors.connect + errors.read + errors.write + errors.status + errors.timeout))
end
