/// Settings that an app makes once: a form's fields are sent before its files, because the service stores files
/// as they arrive. The generated client sends both in random order.
import Foundation
import Market
#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

func configure() {
    MarketAPIConfiguration.shared.requestBuilderFactory = Builders()
}

final class Builders: RequestBuilderFactory {
    func getNonDecodableBuilder<T>() -> RequestBuilder<T>.Type { URLSessionRequestBuilder<T>.self }
    func getBuilder<T: Decodable>() -> RequestBuilder<T>.Type { Builder<T>.self }
}

final class Builder<T: Decodable & Sendable>: URLSessionDecodableRequestBuilder<T>, @unchecked Sendable {
    override func createURLRequest(
        urlSession: URLSessionProtocol, method: HTTPMethod, encoding: ParameterEncoding, headers: [String: String]
    ) throws -> URLRequest {
        let isForm = headers["Content-Type"] == "multipart/form-data"
        return try super.createURLRequest(
            urlSession: urlSession, method: method, encoding: isForm ? Form() : encoding, headers: headers)
    }
}

struct Form: ParameterEncoding {
    func encode(request: URLRequest, with parameters: [String: any Sendable]?) throws -> URLRequest {
        let boundary = UUID().uuidString
        var body = Data()
        func add(_ name: String, _ more: String, _ content: Data) {
            body += Data("--\(boundary)\r\nContent-Disposition: form-data; name=\"\(name)\"\(more)\r\n\r\n".utf8)
            body += content + Data("\r\n".utf8)
        }
        let files = (parameters ?? [:]).mapValues { value in
            (value as? [any Sendable] ?? [value]).compactMap { $0 as? URL }
        }
        for (name, value) in parameters ?? [:] where files[name]!.isEmpty {
            add(name, "", Data("\(value)".utf8))
        }
        for (name, file) in files.flatMap({ name, some in some.map { (name, $0) } }) {
            add(name, "; filename=\"\(file.lastPathComponent)\"", try Data(contentsOf: file))
        }
        var made = request
        made.setValue("multipart/form-data; boundary=\(boundary)", forHTTPHeaderField: "Content-Type")
        made.httpBody = body + Data("--\(boundary)--\r\n".utf8)
        return made
    }
}
