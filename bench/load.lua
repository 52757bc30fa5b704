-- For wrk: -- <seed> <file of header values, one per line> <method> <path> <header>
-- Each request has one of the values, at random. The same seed chooses the same values.
local requests = {}

-- `wrk.format` orders the headers differently in each process.
local function format(method, path, header, value)
  local own = header and header .. ': ' .. value .. '\r\n' or ''
  return method .. ' ' .. path .. ' HTTP/1.1\r\nHost: ' .. wrk.headers['Host'] .. '\r\n'
    .. 'X-Forwarded-For: 192.0.2.1\r\nX-Forwarded-Proto: https\r\n' .. own .. '\r\n'
end

function init(arguments)
  local seed, file, method, path, header = unpack(arguments)
  for value in io.lines(file) do
    requests[#requests + 1] = format(method, path, header, value)
  end
  math.randomseed(tonumber(seed))
end

function request()
  return requests[math.random(#requests)]
end

function done(summary)
  local errors = summary.errors
  io.write(string.format(
    '\n{"answered":%d,"seconds":%f,"refused":%d,"failed":%d}\n', summary.requests, summary.duration / 1e6,
    errors.status, errors.connect + errors.read + errors.write + errors.timeout))
end
