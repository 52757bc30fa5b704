-- For wrk: -- <file of header values, a line each> <method> <path> <header>
-- Each request takes another value, at random, over all of them.
local requests = {}

function init(arguments)
  local file, method, path, header = arguments[1], arguments[2], arguments[3], arguments[4]
  local headers = { ['X-Forwarded-For'] = '192.0.2.1', ['X-Forwarded-Proto'] = 'https' }
  for value in io.lines(file) do
    if header then headers[header] = value end
    requests[#requests + 1] = wrk.format(method, path, headers)
  end
  math.randomseed(#requests)
end

function request()
  return requests[math.random(#requests)]
end

function done(summary, latency)
  local errors = summary.errors
  io.write(string.format(
    '\n{"requests":%d,"seconds":%f,"p50":%f,"p99":%f,"refused":%d,"failed":%d}\n',
    summary.requests, summary.duration / 1e6, latency:percentile(50) / 1e3, latency:percentile(99) / 1e3,
    errors.status, errors.connect + errors.read + errors.write + errors.timeout))
end
